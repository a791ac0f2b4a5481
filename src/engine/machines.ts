// engine:machines: the machines of an engine and its parts as state charts.
import { z } from 'zod'
import { defineOperation } from '../operations/define-operation.ts'
import { machineNames, machines } from './machine-charts.ts'

/** Each `config` is valid input for XState's `createMachine` and the Stately editor. */
export const engineMachines = defineOperation({
  id: 'engine:machines',
  access: 'read',
  description:
    'Returns the machines of tasks, runs, calls, questions, objectives, stints and the engine as state charts.',
  routes: [{ endpoint: 'GET /machines', tag: 'Engine', operationId: 'getMachines', summary: 'Get the state machines' }],
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      machines: z.array(
        z.object({ id: z.enum(machineNames), config: z.record(z.string(), z.unknown()), mermaid: z.string() }),
      ),
    }),
  models: false,
  handle: () => ({
    machines: Object.values(machines).map(({ id, config, mermaid }) => ({ id, config: { ...config }, mermaid })),
  }),
})
