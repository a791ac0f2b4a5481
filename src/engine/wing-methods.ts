// The operations of memory, of teams and of schedules as methods of the engine: `engine.mem.facts(input)` calls `mem:facts` on the bus.
import type { Bus } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import { memoryOperations, teamOperations } from '../memory/operations/index.ts'
import { scheduleOperations } from '../time/operations/schedules.ts'
import type { AbilityMethods, MethodId } from './ability-methods.ts'

/** The type fails to compile if an operation has no typed line in `ability-methods.ts`. */
const methodIds: readonly MethodId[] = [...teamOperations, ...memoryOperations, ...scheduleOperations].map(
  ({ id }) => id,
)

export function wingMethods(bus: Bus, caller: Caller): AbilityMethods {
  const modules: Record<string, Record<string, unknown>> = {}
  for (const id of methodIds) {
    const [module, name] = id.split(':') as [string, string]
    modules[module] = { ...modules[module], [name]: (input: unknown = {}) => bus.call(id as string, input, { caller }) }
  }
  return Object.fromEntries(
    Object.entries(modules).map(([name, methods]) => [name, Object.freeze(methods)]),
  ) as unknown as AbilityMethods
}
