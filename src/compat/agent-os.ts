// The public entry `errand/agent-os`: the task manager of Agent OS under its own names, over one engine. It only translates names;
// states, slots and recovery are the engine's.
import { type BusOptions, createBus } from '../bus/bus.ts'
import { type AgentBus, getAllToolDefinitions } from './agent-os/agent-bus.ts'

export type { Ability, AbilityDefinition } from '../bus/ability.ts'
export { defineAbility } from '../bus/ability.ts'
export type { AbilityContext } from '../bus/ability-context.ts'
export type { JsonAbilityMeta, JsonHandler } from '../bus/json-ability.ts'
export type { ToolDefinition } from '../bus/tool-names.ts'
export type { CallStatus } from '../entities/call.ts'
export type { Call } from './agent-os/abilities/ledger-calls.ts'
export type { AgentOsAbilityTypes } from './agent-os/abilities/offered.ts'
export { loadTask, loadTaskContext, type Message, type MessageRole, saveMessage, type Task } from './agent-os/ledger.ts'
export {
  extractExplicitTaskId,
  type HandledMessage,
  handleUserMessage,
  routeMessage,
} from './agent-os/message-routing.ts'
export { createModelManager, type ModelManager, type ModelManagerOptions } from './agent-os/model-manager.ts'
export {
  canSpawnTask,
  createTaskManager,
  shutdownTaskManager,
  type TaskManagerConfig,
  type TaskManagerState,
} from './agent-os/task-manager.ts'
export type { OutputListener, UserOutput } from './agent-os/user-output.ts'
export type { ProcessStatus as TaskStatus } from './agent-os/views/status-mapping.ts'
export type { TaskOutput } from './agent-os/views/task-output.ts'
export type { ChatMessage, ToolCall } from './agent-os/views/task-view.ts'
export { type AgentBus, type BusOptions, createBus, getAllToolDefinitions }

/** `createBus`, typed by the abilities of Agent OS. */
export function createAgentBus(options: BusOptions = {}): AgentBus {
  return createBus(options)
}
