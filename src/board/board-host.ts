// What the board needs of the engine that it stands on, and who asks.
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { Drafter } from '../drafts/draft.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { StepContext } from '../steps/step-context.ts'

export interface BoardHost {
  /** From what `create` takes to rows. */
  readonly drafter: Drafter
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  stepContext(): Promise<StepContext>
  nextId(prefix: string): string
}

/** What its members need beside that: time, and to be woken. */
export interface TeamHost extends BoardHost {
  readonly clock: Clock
  /** Resolves when something has been written, here or by others, or when the signal aborts. @throws ErrandError ENGINE_CLOSED */
  moved(signal: AbortSignal): Promise<void>
  /** Wakes who waits so in this engine, after a step that made no event. */
  stir(): Promise<void>
}

/** A board, and in whose name it is used: a caller with a task sees and touches what is below that task, and nothing else. */
export interface BoardTarget {
  board: string
  caller: Caller
}
