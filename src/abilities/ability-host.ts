// What abilities need of the engine that offers them. Who calls decides which engine they get: a model's reaches no further
// than its own task and what is below it.

import type { RunnableTasks } from '../api/executor.ts'
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Drafter } from '../drafts/draft.ts'
import type { Engine } from '../engine-api.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { Task, TaskRecord } from '../entities/task.ts'
import type { Step } from '../ledger/ledger.ts'
import type { MemoryHost } from '../memory/memory-host.ts'
import type { EmbeddingModelLike } from '../models/embedding-model.ts'
import type { ModelRegistry } from '../models/model-registry.ts'
import type { PlansRoot } from '../plans/plans-root.ts'

export interface AbilityHost extends MemoryHost {
  readonly models: ModelRegistry
  /** Answers `model:embed`; null where the engine was given none. */
  readonly embeddingModel: EmbeddingModelLike | null
  /** The folder of plans that come from outside; null: none are run. */
  readonly plansRoot: PlansRoot | null
  /** The engine as this caller may use it, once it is open. @throws what kept it from opening. */
  engineFor(caller: Caller): Promise<Engine>
  /** Resolves when the step is durable. @throws ErrandError ENGINE_CLOSED, what the step refused, what failed the ledger. */
  step<R>(step: Step<R>): Promise<R>
  /** Stored tasks as people see them, also while the engine closes. */
  views(records: readonly TaskRecord[]): Promise<Task[]>
  /** A task that a step has written, as it is now. */
  view(taskId: string): Promise<Task>
  readonly clock: Clock
  /** Names of the executors that the engine has. */
  executors(): string[]
  /** The same while the engine closes, too, when it takes nothing new any more: for what the engine itself asks for. */
  whileClosing(): Promise<MemoryHost>
  /** Resolves when something has been written, here or by others, or when the signal aborts. @throws ErrandError ENGINE_CLOSED */
  moved(signal: AbortSignal): Promise<void>
  /** The durable feed in pages, as `engine.events` gives it one by one. @throws ErrandError ENGINE_CLOSED, CURSOR_TOO_OLD */
  pages(options: { after: number; signal: AbortSignal; taskId: string | undefined }): AsyncIterable<TaskEvent[]>
  /** Wakes who waits so in this engine, after a step that made no event. */
  wake(): Promise<void>
  /** Whether the engine runs tasks: false before `work` and once it closes. */
  isWorking(): boolean
  /** Which tasks of an executor this engine can run now. */
  canRun(executor: string): RunnableTasks
  /** The names under which the engine offers models. */
  offeredModels(): string[]
  /** Whether the engine offers a model under this name. */
  offersModel(name: string): boolean
  /** From what `create` takes to the rows that are to be made. */
  readonly drafter: Drafter
}
