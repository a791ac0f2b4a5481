// engine:machines: the lifecycles as charts, for whoever draws them.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { machineNames, machines } from '../../machines/charts.ts'

/** Each `config` is what XState's `createMachine` and the Stately editor take. */
export function engineMachines() {
  return defineAbility({
    id: 'engine:machines',
    access: 'read',
    description: 'Gives the lifecycles of tasks, runs, calls, objectives, stints and the engine as charts.',
    input: z.strictObject({}),
    output: z.object({
      machines: z.array(
        z.object({ id: z.enum(machineNames), config: z.record(z.string(), z.unknown()), mermaid: z.string() }),
      ),
    }),
    models: false,
    handle: () => ({
      machines: Object.values(machines).map(({ id, config, mermaid }) => ({ id, config: { ...config }, mermaid })),
    }),
  })
}
