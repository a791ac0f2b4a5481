// What the lifecycle of an engine receives when the engine is created.

import type { Ids } from '../core/ids.ts'
import type { CallRecord } from '../entities/call.ts'
import type { ParsedEngineOptions } from '../entities/options.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { TeamMembership } from '../operations/agent-run.ts'
import type { TeamSteps } from '../operations/steps/step-context.ts'
import type { EngineHost } from './engine-host.ts'

/** What memory does while the engine works, beside the runs. */
export interface MemoryWork {
  start(): void
  /**
   * Resolves when what has ended is processed, or after the timeout. Starts nothing new.
   *
   * @param active the tasks that were working when the engine began to close.
   */
  close(timeoutMs: number, active: readonly string[]): Promise<void>
  /** The stint that a run works in, after what ended before it has been processed. */
  membershipOf(task: TaskRecord): Promise<TeamMembership | undefined>
}

export interface LifecycleParts
  extends Pick<
    EngineHost,
    | 'ledger'
    | 'clock'
    | 'bus'
    | 'executors'
    | 'treeLimits'
    | 'offeredModels'
    | 'modelFor'
    | 'describeModel'
    | 'canRun'
    | 'engine'
    | 'draft'
    | 'redaction'
  > {
  /** The ledger was opened for this engine and is closed with it. */
  ownsLedger: boolean
  ids: Ids
  options: ParsedEngineOptions
  /**
   * Ends the processes that calls of a dead engine left running; resolves to the calls whose processes may still run.
   *
   * @param place.onOneHost all engines of the ledger are on this host.
   */
  reclaim(calls: readonly CallRecord[], place: { onOneHost: boolean }): Promise<CallRecord[]>
  /** Makes the tasks of schedules that are due. Resolves to whether any was. */
  fireSchedules(host: EngineHost): Promise<boolean>
  /** Called when the engine begins to close, or its ledger has failed. */
  closing(): void
  /** What teams add to steps; undefined for an engine without memory. */
  teams: TeamSteps | undefined
  /** Undefined for an engine without memory. */
  memory: ((host: EngineHost) => MemoryWork) | undefined
  /** What posts the events of an engine with webhooks; undefined for any other. */
  outbox(host: EngineHost): { start(): void; stop(): void; settled(): Promise<void> } | undefined
  /** Called once, when the engine closes: it accepts no more calls. */
  closed(): void
}
