// What the parts of a live engine receive of the engine; some extend it.

import type { Bus } from '../bus/bus.ts'
import type { Clock } from '../core/clock.ts'
import type { Redaction } from '../core/redact.ts'
import type { CallRecord } from '../entities/call.ts'
import type { AnyExecutor, RunnableTasks } from '../entities/executor.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type { ParsedEngineOptions } from '../entities/options.ts'
import type { Task, TaskRecord } from '../entities/task.ts'
import type { ModelIdentity } from '../entities/telemetry.ts'
import type { Ledger, Op, Reads, Step } from '../ledger/ledger.ts'
import type { AgentDefaults, TeamMembership } from '../operations/agent-run.ts'
import type { TreeLimits } from '../operations/drafts/draft.ts'
import type { CreateRequest } from '../operations/steps/create.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { Feed } from './feed.ts'
import type { LiveActors } from './live-actors.ts'
import type { Log } from './log.ts'
import type { Report } from './report.ts'
import type { RunLog } from './run-log.ts'
import type { StatusModel } from './status.ts'
import type { LiveContent } from './task-stream.ts'

export interface EngineHost extends Omit<ParsedEngineOptions, 'ledger' | 'clock' | 'bus' | 'executors' | 'redact'> {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly feed: Feed
  readonly actors: LiveActors
  readonly status: StatusModel
  readonly bus: Bus
  readonly instanceId: string
  /** The engine as its users have it. */
  engine(): object
  readonly executors: ReadonlyMap<string, AnyExecutor>
  readonly agentDefaults: AgentDefaults
  readonly treeLimits: TreeLimits
  readonly report: Report
  /** Undefined without a logger. */
  readonly log: Log | undefined
  readonly runLog: RunLog
  readonly redaction: Redaction
  stepContext(): StepContext
  nextId(prefix: string): string
  /** A random number from 0 to 1. */
  chance(): number
  /** A step of a run, or one that follows from it: retried while the ledger is busy and the engine is open. */
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  views(records: readonly TaskRecord[]): Promise<Task[]>
  /** The names under which models are offered here. */
  offeredModels(): string[]
  /**
   * The name of the model that works on a task; undefined for the default model. @throws Failure FORBIDDEN for one that
   * is not offered.
   */
  modelFor(task: Pick<TaskRecord, 'executor' | 'policy'>): string | undefined
  /** The model of this name, or the default, as its provider names it. */
  describeModel(name: string | undefined): ModelIdentity
  /** Which tasks of an executor can run here now. */
  canRun(executor: string): RunnableTasks
  /** Parses children that a run spawns. */
  draft(specs: readonly unknown[], parentId: string): CreateRequest['trees']
  /** The team task and agent of a live run, once what ended before it is in memory. */
  membershipOf(task: TaskRecord): Promise<TeamMembership | undefined>
  /** Live output, for the streams of this process. */
  live(taskId: string, output: LiveContent): void
  /** When the model of a task has sent the latest piece of its answer; null: it is not answering. Kept in this process alone. */
  pieceReceived(taskId: string, at: number | null): void
  /** The row of this engine. */
  instanceRow(leaseUntil: number): InstanceRecord
  /**
   * Ends the processes that calls left running after their engine, and resolves to the calls whose processes may still run, because they
   * cannot be seen from here; rejects while one that is seen is alive.
   */
  reclaim(calls: readonly CallRecord[]): Promise<readonly CallRecord[]>
  /** Makes the tasks of schedules that are due. Resolves to whether any was. */
  fireSchedules(): Promise<boolean>
}
