// The public entry: the engine, executors, errors, and the types that flow between them.
export type {
  ChildOptions,
  CreateOptions,
  Engine,
  EngineOptions,
  EngineStatus,
  EventHandler,
  Executors,
  Limits,
  Quoted,
  RunningTask,
  StatusStore,
  StreamItem,
  TaskGraph,
  TaskPage,
  TaskRef,
  Watched,
  Why,
} from './api.ts'
export type { Clock } from './clock.ts'
export { createEngine } from './engine.ts'
export type { Call, CallStatus } from './entities/call.ts'
export type { EventType, TaskEvent } from './entities/event.ts'
export type { SharedLimits } from './entities/limits.ts'
export type { Message, MessageRole } from './entities/message.ts'
export type { Question } from './entities/question.ts'
export type { RunOutcome, RunRecord, RunStatus } from './entities/run.ts'
export {
  type AutoComplete,
  isSettled,
  isTerminal,
  type OnChildFailure,
  type OnDependencyFailure,
  type OnInterrupt,
  type Outcome,
  type Progress,
  type RetryPolicy,
  type Task,
  type TaskId,
  type TaskStatus,
  taskStatuses,
} from './entities/task.ts'
export { ErrandError, type ErrorCode, Failure, type StoredError, TaskCanceledError, TaskFailedError } from './errors.ts'
export {
  type AnyExecutor,
  type AskOptions,
  type CallContext,
  type CallOptions,
  defineExecutor,
  type Executor,
  type ExecutorDefinition,
  type ExecutorFunction,
  type ExecutorTask,
  type InputOf,
  type ResultOf,
  type Run,
  type WaitOptions,
} from './executor.ts'
export { ask, createAsk } from './executors/ask.ts'
export { createShell, shell } from './executors/shell.ts'
export type { Ids } from './ids.ts'
export type { ClaimOptions, LimitsPatch, ListOptions, SharedLimitsPatch, TaskPatch } from './options.ts'
