// What the parts of a live engine get of the engine around them; some of them get more, and say what.
import type { AgentDefaults, TeamMembership } from '../agent-run.ts'
import type { AnyExecutor, RunnableTasks, SpawnSpec } from '../api/executor.ts'
import type { ParsedEngineOptions } from '../api/options.ts'
import type { Bus } from '../bus/bus.ts'
import type { Clock } from '../core/clock.ts'
import type { Redaction } from '../core/redact.ts'
import type { TreeLimits } from '../drafts/draft.ts'
import type { CallRecord } from '../entities/call.ts'
import type { InstanceRecord } from '../entities/instance.ts'
import type { Task, TaskRecord } from '../entities/task.ts'
import type { Ledger, Op, Reads, Step } from '../ledger/ledger.ts'
import type { CreateRequest } from '../steps/create.ts'
import type { StepContext } from '../steps/step-context.ts'
import type { Feed } from './feed.ts'
import type { LiveActors } from './live-actors.ts'
import type { Report } from './report.ts'
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
  readonly executors: ReadonlyMap<string, AnyExecutor>
  readonly agentDefaults: AgentDefaults
  readonly treeLimits: TreeLimits
  readonly report: Report
  readonly redaction: Redaction
  stepContext(): StepContext
  nextId(prefix: string): string
  /** A random number from 0 to 1. */
  chance(): number
  /** A step of a run, or of what follows from one: a ledger that is busy is asked again for as long as the engine lives. */
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  views(records: readonly TaskRecord[]): Promise<Task[]>
  /** The names under which models are offered here. */
  offeredModels(): string[]
  /** The name of the model that works on a task; undefined for the default one. @throws Failure FORBIDDEN for one that is not offered. */
  modelFor(task: Pick<TaskRecord, 'executor' | 'policy'>): string | undefined
  /** Which tasks of an executor can run here now. */
  canRun(executor: string): RunnableTasks
  /** Parses children that a run spawns. */
  draft(specs: readonly SpawnSpec[], parentId: string): CreateRequest['trees']
  /** Where a live run works with others, when memory knows of what ended before it. */
  placeOf(task: TaskRecord): Promise<TeamMembership | undefined>
  /** Live output, for whoever streams in this process. */
  live(taskId: string, output: LiveContent): void
  /** The row of this engine. */
  enlisted(leaseUntil: number): InstanceRecord
  /** Ends what calls left running outside of their processes; rejects while something of it is alive. */
  reclaim(calls: readonly CallRecord[]): Promise<void>
}
