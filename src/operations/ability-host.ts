// What abilities require of the engine that offers them. The engine that they get depends on the caller: a model reaches only its own
// task and the tasks below it.

import type { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Redaction } from '../core/redact.ts'
import type { Engine } from '../engine/engine-api.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { RunnableTasks } from '../entities/executor.ts'
import type { OwnMetrics } from '../entities/metrics.ts'
import type { Task, TaskRecord } from '../entities/task.ts'
import type { Life, Op, Reads, Step } from '../ledger/ledger.ts'
import type { Drafter, TaskDraft } from './drafts/draft.ts'
import type { StepContext } from './steps/step-context.ts'
import type { LostRuns } from './views/lost-runs.ts'

export interface AbilityHost {
  /** The engine with the rights of this caller, once it is open. @throws the error that kept it from opening. */
  engineFor(caller: Caller): Promise<Engine>
  /**
   * Resolves when the step is durable; its events reach the supervisor by the feed. An open engine implements this
   * with `Lifecycle.step`, and `create` with `Lifecycle.create` (`openHost` in engine.ts).
   * @throws ErrandError ENGINE_CLOSED, the refusal of the step, or the failure of the ledger.
   */
  step<R>(step: Step<R>): Promise<R>
  /** The same for a step that may make a task ready: it may start in its commit. */
  wakingStep<R>(step: Step<R>): Promise<R>
  /**
   * The same for a step that creates these trees. A root with an executor may start in its commit. Others, such as all tasks of a plan, start
   * in a later one: the feed reports their creation to the supervisor, which looks for ready tasks.
   */
  create<R>(step: Step<R>, trees: ReadonlyArray<readonly TaskDraft[]>): Promise<R>
  /** Converts stored tasks to their public form. Works while the engine closes, too. */
  views(records: readonly TaskRecord[]): Promise<Task[]>
  /** The task that a step has written, as it is now. */
  view(taskId: string): Promise<Task>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  stepContext(): Promise<StepContext>
  nextId(prefix: string): string
  readonly clock: Clock
  /** Applies the user's redaction, for values that are compared with stored ones. */
  readonly redaction: Redaction
  /** Reports errors that no caller receives. */
  report(error: unknown, context: Record<string, unknown>): void
  /** What the engine has counted of its own work, and its slots. */
  ownMetrics(): Promise<OwnMetrics>
  /** Names of the engine's executors. */
  executors(): string[]
  /** The schema of the input of an executor; undefined if it accepts any. */
  inputOf(executor: string): z.ZodType | undefined
  /** Resolves at the next write to the ledger, by any process, or when the signal aborts. @throws ErrandError ENGINE_CLOSED */
  moved(signal: AbortSignal): Promise<void>
  /** Resolves when what is ready now and finds a slot of this engine has been started. */
  admitted(): Promise<void>
  /** The durable feed in pages; `engine.events` returns the same one by one. @throws ErrandError ENGINE_CLOSED, CURSOR_TOO_OLD, CURSOR_AHEAD */
  pages(options: { after: number; signal: AbortSignal; taskId: string | undefined }): AsyncIterable<TaskEvent[]>
  /** Wakes the waiters of this engine after a step that wrote no event. */
  wake(): Promise<void>
  /** Whether the engine runs tasks: false before `work` and while it closes. */
  isWorking(): boolean
  /** The runs of dead engines; none for an engine that works, which takes them over. */
  lostRuns(): Promise<LostRuns>
  /** Whether the process of an engine on the ledger is alive. */
  lifeOf(instanceId: string): Promise<Life>
  /** When the model that is answering for a task has sent the latest piece; undefined if it has sent none to this process. */
  latestPieceAt(taskId: string): number | undefined
  /** Which tasks of an executor this engine can run now. */
  canRun(executor: string): RunnableTasks
  /** Names of the models that the engine offers. */
  offeredModels(): string[]
  /** Whether the engine offers a model under this name. */
  offersModel(name: string): boolean
  /** Converts the input of `create` to drafts of rows. */
  readonly drafter: Drafter
}
