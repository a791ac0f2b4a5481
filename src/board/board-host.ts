// What the board needs from its engine, and which board a caller uses.
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { Drafter } from '../operations/drafts/draft.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { LostRuns } from '../operations/views/lost-runs.ts'

export interface BoardHost {
  /** Turns the input of `create` into rows. */
  readonly drafter: Drafter
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  stepContext(): Promise<StepContext>
  lostRuns(): Promise<LostRuns>
  nextId(prefix: string): string
}

/** What team operations need as well: time, and notification of changes. */
export interface TeamHost extends BoardHost {
  readonly clock: Clock
  /** Resolves when this engine or another has written to the ledger, or when the signal aborts. @throws ErrandError ENGINE_CLOSED */
  moved(signal: AbortSignal): Promise<void>
  /** Wakes the waiters of this engine after a step that added no event. */
  wake(): Promise<void>
}

/** A board and the caller that uses it. A caller with a task sees and changes only what is below that task. */
export interface BoardTarget {
  board: string
  caller: Caller
}
