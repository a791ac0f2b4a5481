// What the board needs of the engine that it stands on, and who asks.
import type { Caller } from '../bus/caller.ts'
import type { Drafter } from '../drafts/draft.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { Moment } from '../steps/moment.ts'

export interface BoardHost {
  /** From what `create` takes to rows. */
  readonly drafter: Drafter
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  moment(): Promise<Moment>
  nextId(prefix: string): string
}

/** A board, and in whose name it is used: a caller with a task sees and touches what is below that task, and nothing else. */
export interface BoardPlace {
  board: string
  caller: Caller
}
