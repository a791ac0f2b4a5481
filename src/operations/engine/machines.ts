// engine:machines: the lifecycles as state charts.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { machineNames, machines } from '../../machines/charts.ts'

const engineMachinesInput = once(() => z.strictObject({}))

const engineMachinesOutput = once(() =>
  z.object({
    machines: z.array(
      z.object({ id: z.enum(machineNames), config: z.record(z.string(), z.unknown()), mermaid: z.string() }),
    ),
  }),
)

/** Each `config` is valid input for XState's `createMachine` and the Stately editor. */
export function engineMachines() {
  return defineAbility({
    id: 'engine:machines',
    access: 'read',
    description: 'Returns the lifecycles of tasks, runs, calls, objectives, stints and the engine as state charts.',
    input: engineMachinesInput(),
    output: engineMachinesOutput(),
    models: false,
    handle: () => ({
      machines: Object.values(machines).map(({ id, config, mermaid }) => ({ id, config: { ...config }, mermaid })),
    }),
  })
}
