// The bus that everything here takes first: what the compiler knows of it, the check for programs that pass something else, and the
// tools that a model has there.
import type { EngineAbilityTypes } from '../../abilities/engine-ability-types.ts'
import type { AbilityTypes } from '../../bus/ability-types.ts'
import type { Bus, BusCalls } from '../../bus/bus.ts'
import type { ToolDefinition } from '../../bus/tool-names.ts'
import { ErrandError } from '../../core/errors.ts'
import { kindOf } from '../../core/parse.ts'
import { askUser, waitForTasks } from '../../executors/agent/toolbox.ts'
import type { AgentOsAbilityTypes } from './abilities/offered.ts'

/** Abilities of Agent OS, models, and those that a program has declared. The engine's others stand on the engine's own bus. */
type KnownAbilities = AgentOsAbilityTypes & Omit<AbilityTypes, Exclude<keyof EngineAbilityTypes, `model:${string}`>>

/** A bus with a task manager on it: any bus, typed by the abilities of Agent OS. */
export interface AgentBus extends Omit<Bus, keyof BusCalls<unknown>>, BusCalls<KnownAbilities> {}

/** @throws ErrandError INVALID_INPUT for what is no bus; `what` names the function. */
export function requireBus(given: AgentBus, what: string): AgentBus {
  if (typeof given?.register === 'function' && typeof given.call === 'function') return given
  const kind = kindOf(given) === 'object' ? 'another object' : kindOf(given)
  throw new ErrandError(
    'INVALID_INPUT',
    `${what} needs a bus, got ${kind}: pass what createBus or createAgentBus returns.`,
    {},
  )
}

/** Stands for any task: what the bus offers depends only on there being one. */
const anyTask = 'task-any'

/**
 * Every ability that the model of a task may call, sorted by id: all but `ldg:*`, `bus:*` and what is not for models. An agent
 * has two more of its own, `ask_user` and `wait_for_tasks`, which are no abilities.
 */
export async function getAllToolDefinitions(bus: AgentBus): Promise<ToolDefinition[]> {
  return bus.toolsFor({ surface: 'model', taskId: anyTask }, [askUser, waitForTasks]).definitions
}
