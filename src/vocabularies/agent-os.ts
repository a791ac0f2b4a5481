// The public entry `errand/agent-os`: the task manager of Agent OS under its own names, over one engine on one bus. Only words
// are translated here; `task:*` and `ldg:*` are the engine's abilities, and states, slots and recovery are its own.
import { type Bus, type BusOptions, createBus } from '../bus/bus.ts'

export type { EngineAbilityTypes } from '../abilities/engine-ability-types.ts'
export type { TaskOutput } from '../abilities/task/task-output.ts'
export type { Ability, AbilityContext, AbilityDefinition } from '../bus/ability.ts'
export { defineAbility } from '../bus/ability.ts'
export type { JsonAbilityMeta, JsonHandler } from '../bus/json-ability.ts'
export type { ToolDefinition } from '../bus/tool-names.ts'
export { loadTask, loadTaskContext, type Message, type MessageRole, saveMessage, type Task } from './agent-os/ledger.ts'
export {
  extractExplicitTaskId,
  type HandledMessage,
  handleUserMessage,
  routeMessage,
} from './agent-os/message-routing.ts'
export { createModelManager, type ModelManager, type ModelManagerOptions } from './agent-os/model-manager.ts'
export type { OutputListener } from './agent-os/output-listeners.ts'
export {
  canSpawnTask,
  createTaskManager,
  shutdownTaskManager,
  type TaskManagerConfig,
  type TaskManagerState,
} from './agent-os/task-manager.ts'
export { getAllToolDefinitions } from './agent-os/tool-definitions.ts'
export type { UserOutput } from './agent-os/user-output.ts'
export { type BusOptions, createBus }

/** What a task manager stands on. */
export type AgentBus = Bus

/** The same as `createBus`. */
export function createAgentBus(options: BusOptions = {}): AgentBus {
  return createBus(options)
}
