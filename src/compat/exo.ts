// The public entry `errand/exo`: Exo's task controller under its own names, over one engine. It only translates names; states, slots,
// cascades and events are the engine's. Each method documents what Exo left open.
export type { TaskManagerOptions } from './exo/backing.ts'
export { createExoExecutor, exoExecutorName, type TaskExecutor } from './exo/exo-executor.ts'
export {
  type Intent,
  type IntentProvider,
  IntentRecognizer,
  type IntentRecognizerOptions,
  type ModelProvider,
  type RecognizeOptions,
} from './exo/intent.ts'
export { type Task, TaskStatus } from './exo/task.ts'
export { InvalidTransitionError, TaskError, TaskNotFoundError } from './exo/task-error.ts'
export {
  type TaskEvent,
  TaskEventBus,
  type TaskEventBusOptions,
  type TaskEventHandler,
  type TaskEventType,
} from './exo/task-event-bus.ts'
export { type CreateTaskOptions, TaskManager, type UpdateTaskOptions } from './exo/task-manager.ts'
export { TaskScheduler, type TaskSchedulerOptions } from './exo/task-scheduler.ts'
