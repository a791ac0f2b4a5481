// engine:machines: the lifecycles as state charts.
import { z } from 'zod'
import { machineNames, machines } from '../../machines/charts.ts'
import { defineOperation } from '../define-operation.ts'

/** Each `config` is valid input for XState's `createMachine` and the Stately editor. */
export const engineMachines = defineOperation({
  id: 'engine:machines',
  access: 'read',
  description: 'Returns the lifecycles of tasks, runs, calls, objectives, stints and the engine as state charts.',
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
