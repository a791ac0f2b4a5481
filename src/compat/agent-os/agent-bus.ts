// The bus of Agent OS: its static types, the check of a given bus, and the tools of models.

import { askUser, waitForTasks } from '../../agents/loop/toolbox.ts'
import type { AbilityTypes } from '../../bus/ability-types.ts'
import type { Bus, BusCalls } from '../../bus/bus.ts'
import type { ToolDefinition } from '../../bus/tool-names.ts'
import { ErrandError } from '../../core/errors.ts'
import { typeName } from '../../core/type-name.ts'
import type { EngineAbilityTypes } from '../../engine/engine-ability-types.ts'
import type { AgentOsAbilityTypes } from './abilities/offered.ts'

/** Abilities of Agent OS, models, and those declared by the program. The engine's other abilities are on its own bus. */
type KnownAbilities = AgentOsAbilityTypes & Omit<AbilityTypes, Exclude<keyof EngineAbilityTypes, `model:${string}`>>

/** A bus with a task manager: any bus, typed by the abilities of Agent OS. */
export interface AgentBus extends Omit<Bus, keyof BusCalls<unknown>>, BusCalls<KnownAbilities> {}

/** @throws ErrandError INVALID_INPUT for a value that is not a bus; `what` names the function. */
export function requireBus(given: AgentBus, what: string): AgentBus {
  if (typeof given?.register === 'function' && typeof given.call === 'function') return given
  const kind = typeName(given) === 'object' ? 'another object' : typeName(given)
  throw new ErrandError(
    'INVALID_INPUT',
    `${what} needs a bus, got ${kind}: pass what createBus or createAgentBus returns.`,
    {},
  )
}

/** Stands for any task: the tools do not depend on which task calls. */
const anyTask = 'task-any'

/**
 * Returns every ability that a task's model may call, sorted by id: all but `ldg:*`, `bus:*` and those not for models. Agents also have
 * `ask_user` and `wait_for_tasks`, which are tools but not abilities.
 */
export async function getAllToolDefinitions(bus: AgentBus): Promise<ToolDefinition[]> {
  return bus.toolsFor({ surface: 'model', taskId: anyTask }, [askUser, waitForTasks]).definitions
}
