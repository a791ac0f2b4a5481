// What the lifecycle of an engine receives when the engine is created.

import type { Ids } from '../core/ids.ts'
import type { CallRecord } from '../entities/call.ts'
import type { ParsedEngineOptions } from '../entities/options.ts'
import type { EngineHost } from './engine-host.ts'
import type { MemoryArchiveHost } from './memory-archive.ts'
import type { TeamWork } from './team-reconciler.ts'

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
    | 'canRun'
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
  /** A task as abilities of memory receive it. */
  readTask: MemoryArchiveHost['readTask']
  /** Which abilities of memory receive settled tasks. */
  memoryAccepts: MemoryArchiveHost['accepts']
  teamWork: TeamWork
  /** Called once, when the engine closes: it accepts no more calls. */
  closed(): void
}
