// The events of one transaction, collected while its statements run. The transaction's runner owns the list and hands it on only
// once the commit has succeeded; a transaction that fails takes its list with it.
import type { TaskEvent } from '../entities/event.ts'
import type { Request } from './statement.ts'

/** The events of a commit in order; 'unseen' when a set statement wrote some of them, so that they must be read. */
export type CommittedEvents = readonly TaskEvent[] | 'unseen'

export class AppendedEvents {
  /** Undefined stands for the events of a set statement. */
  readonly #events: Array<TaskEvent | undefined> = []
  #writes = 0

  get length(): number {
    return this.#events.length
  }

  /** Writing statements so far. */
  get writes(): number {
    return this.#writes
  }

  /** Takes note of what a statement has appended. `reply`: the seq of the event, or how many a set statement wrote. */
  note({ appends, want }: Request, reply: unknown): void {
    if (want !== 'rows') this.#writes++
    if (appends === undefined || reply === 0) return
    this.#events.push(appends === 'unseen' ? undefined : { seq: reply as number, ...appends })
  }

  /** Drops what came after the first `length`: their step was taken back. */
  truncate(length: number): void {
    this.#events.length = length
  }

  /** The list, for the one who has committed. */
  committed(): CommittedEvents {
    const seen = this.#events.filter((event) => event !== undefined)
    return seen.length === this.#events.length ? seen : 'unseen'
  }
}
