// Why a group of steps cannot be committed as it is: how the writer runs its steps instead (writer.ts).
import type { WideLock } from './ledger-locks.ts'

/** Thrown by a step that concerns more rows than those of its tasks: it must run alone, and the steps after it wait for that. */
export class RunsAlone extends Error {
  readonly at: number

  /** `at`: the place of the step in its group. */
  constructor(at: number) {
    super('the step concerns rows of other tasks')
    this.at = at
  }
}

/** Thrown when a step asks for rows that a later step has read: the later one has to wait for a group of its own. */
export class OutOfOrder extends Error {
  readonly at: number

  /** `at`: the place of the later step in its group. */
  constructor(at: number) {
    super('a later step of the group has read the same rows')
    this.at = at
  }
}

/** Thrown by a step that needs a lock which only the first flight takes: the group begins again with it. */
export class BeginsAgain extends Error {
  readonly lock: WideLock

  constructor(lock: WideLock) {
    super(`a step needs the lock ${lock}`)
    this.lock = lock
  }
}

/** Thrown when a step fails after a part of it was sent: the steps run one by one. */
export class RunsOneByOne extends Error {}
