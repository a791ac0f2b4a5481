// The main entry point of the package: the engine, executors, errors, and their types.

export { type AgentOptions, agent } from './agents/loop/agent.ts'
export { type McpClientLike, type McpTools, type McpToolsOptions, mcpTools } from './agents/mcp/mcp-tools.ts'
export type { EmbeddingModelLike } from './agents/models/embedding-model.ts'
export type { LanguageModelLike } from './agents/models/language-model.ts'
export type { ModelErrorCode, ModelFailureDetails } from './agents/models/model-error.ts'
export { retryableModelCodes } from './agents/models/model-error.ts'
export type { ModelChunk, ModelMessage, ModelStepInput } from './agents/models/step-schema.ts'
export { type AskModel, askModelOf, type ModelChoice } from './agents/routing/ask-model.ts'
export type { Handled, HandleOptions } from './agents/routing/handle.ts'
export { createIntentRecognizer, type Intent, type IntentRecognizer } from './agents/routing/intent.ts'
export { extractMention } from './agents/routing/mention.ts'
export { type Route, type RouteOptions, route } from './agents/routing/route.ts'
export { type BoardSession, type BoardSessionOptions, createBoardSession } from './board/board-session.ts'
export { type BoardToolName, type BoardTools, type BoardToolsOptions, boardTools } from './board/board-tools.ts'
export { exportBoard, importBoard, mirrorBoard } from './board/mirror/board-folders.ts'
export type { FolderOptions } from './board/mirror/import-export.ts'
export type { BoardMirror, MirrorOptions } from './board/mirror/mirror-board.ts'
export type { MirrorReport, RefusedFile, UnheldValue } from './board/mirror/mirror-report.ts'
export { type AwaitWorkOptions, awaitWork } from './board/team/await-work.ts'
export type { Mail } from './board/team/mail.ts'
export type { AwaitedWork } from './board/team/wait-for-work.ts'
export {
  type Ability,
  type AbilityDefinition,
  type AbilityMeta,
  defineAbility,
  isAbility,
  type ResultAbilityDefinition,
  type StreamAbilityDefinition,
} from './bus/ability.ts'
export type { AbilityContext } from './bus/ability-context.ts'
export type { AbilityTypes } from './bus/ability-types.ts'
export { type Bus, type BusOptions, createBus, type InvokeOptions as BusInvokeOptions } from './bus/bus.ts'
export type { CallLogEntry, LogOptions } from './bus/call-log.ts'
export type { Caller } from './bus/caller.ts'
export type { JsonAbilityMeta, JsonHandler } from './bus/json-ability.ts'
export type { ToolDefinition, ToolTable } from './bus/tool-names.ts'
export { fileAbilities } from './commands/files/file-abilities.ts'
export { type CommandAbilityOptions, commandAbilities } from './commands/operations/command-abilities.ts'
export { createShell, shell } from './commands/shell.ts'
export type { Clock } from './core/clock.ts'
export type { Duration } from './core/duration.ts'
export {
  ErrandError,
  type ErrorCode,
  Failure,
  type StoredCause,
  type StoredError,
  TaskCanceledError,
  TaskFailedError,
} from './core/errors.ts'
export type { Ids } from './core/ids.ts'
export type { RedactFunction } from './core/redact.ts'
export { createEngine } from './engine/create-engine.ts'
export type { EngineAbilityTypes } from './engine/engine-ability-types.ts'
export type {
  ChildOptions,
  ClaimToken,
  CreateOptions,
  Engine,
  EngineOptions,
  EngineStatus,
  EventHandler,
  InspectedActor,
  InspectedSnapshot,
  InspectionEvent,
  InspectionListener,
  InspectionObserver,
  InspectOptions,
  Limits,
  MemoryOptions,
  RunningTask,
  StatusStore,
  StreamItem,
  TaskGraph,
  TaskPage,
  TaskRef,
  WaitingOptions,
  Watched,
  Why,
  WorkOptions,
} from './engine/engine-api.ts'
export { type MachineName, machines } from './engine/machine-charts.ts'
export type { BatchAction, BatchOptions, BatchProgress, BatchRefusal, BatchResult } from './entities/batch.ts'
export type { BoardRef, BoardStatus, BoardTask } from './entities/board.ts'
export type { Call, CallStatus } from './entities/call.ts'
export type { CallContext, CallOptions } from './entities/call-options.ts'
export { type CreationBounds, type CreationSize, maxTasksPerRequest, modelBounds } from './entities/creation-bounds.ts'
export type { EventType, Requester, TaskEvent } from './entities/event.ts'
export {
  type AnyExecutor,
  defineExecutor,
  type Executor,
  type ExecutorDefinition,
  type ExecutorFunction,
  type ExecutorMap,
  type ExecutorTask,
  type InvokeOptions,
  type Run,
  type RunEngine,
} from './entities/executor.ts'
export type { TaskFilterOptions } from './entities/filter-options.ts'
export type { HandledEvent, HandledTask, HandlerTemplate } from './entities/handler.ts'
export type { SharedLimits } from './entities/limits.ts'
export type { LogFields, Logger } from './entities/logger.ts'
export type {
  DrawnState,
  DrawnTransition,
  MachineChartView,
  MachineMove,
  TaskMachine,
} from './entities/machine-view.ts'
export type { Delivery, Message, MessageRole, ModelStep, ToolCall, Usage } from './entities/message.ts'
export type { Executors, InputOf, ResultOf } from './entities/new-task.ts'
export type {
  ClaimOptions,
  ComparedFact,
  LimitsPatch,
  ListOptions,
  SharedLimitsPatch,
  TaskPatch,
} from './entities/options.ts'
export type { EmitOptions } from './entities/output.ts'
export type { PlanOptions, PlanOutcome, PlanRun } from './entities/plan-run.ts'
export type { Question } from './entities/question.ts'
export type { RunOutcome, RunRecord, RunStatus } from './entities/run.ts'
export {
  type BriefTask,
  isSettled,
  isTerminal,
  type Outcome,
  type Progress,
  type Task,
  type TaskId,
  type TaskStatus,
  taskStatuses,
} from './entities/task.ts'
export type {
  AutoComplete,
  OnChildFailure,
  OnDependencyFailure,
  OnInterrupt,
  RetryOptions,
  RetryPolicy,
} from './entities/task-fields.ts'
export type { AskOptions, SignalOptions, WaitOptions, Webhook } from './entities/wait-options.ts'
export type { PostedEvent, WebhookOptions } from './entities/webhook-options.ts'
export type { ChartAction, ChartConfig, ChartState, ChartTransition, MachineChart } from './machines/chart.ts'
export { ask, createAsk } from './operations/ask.ts'
