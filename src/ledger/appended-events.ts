// The events that steps append, collected while their statements run: on a server they are numbered with the commit, and cannot be read
// before.
import type { TaskEvent } from '../entities/event.ts'
import type { NewEvent, Op } from './ledger.ts'
import { isSeveral } from './op.ts'
import type { Asked, Request } from './statement.ts'

/** The events of a commit in order; 'unseen' if a set statement wrote some of them, so that they must be read. */
export type CommittedEvents = readonly TaskEvent[] | 'unseen'

/**
 * The events of one transaction, collected while its statements run. The runner returns the list only after the commit has succeeded; a
 * failed transaction discards it.
 */
export class AppendedEvents {
  /** Undefined stands for the events of a set statement. */
  readonly #events: Array<TaskEvent | undefined> = []
  #writes = 0

  get length(): number {
    return this.#events.length
  }

  /** The number of writing statements so far. */
  get writes(): number {
    return this.#writes
  }

  /** The first that is in sight. */
  get first(): TaskEvent | undefined {
    return this.#events.find((event) => event !== undefined)
  }

  /** Records what a statement has appended. `reply`: the seq of the event, or the number that a set statement wrote. */
  note({ appends, want }: Request, reply: unknown): void {
    if (want !== 'rows') this.#writes++
    if (appends === undefined || reply === 0) return
    this.#events.push(appends === 'unseen' ? undefined : { seq: reply as number, ...appends })
  }

  /** Drops the events after the first `length`: their step was rolled back. */
  truncate(length: number): void {
    this.#events.length = length
  }

  /** Those whose numbers are known. */
  get numbered(): TaskEvent[] {
    return this.#events.filter((event) => event !== undefined)
  }

  /** The list, after the commit. */
  committed(): CommittedEvents {
    const seen = this.numbered
    return seen.length === this.#events.length ? seen : 'unseen'
  }
}

/** Runs a part of a step, and calls `see` for every event that it appends one by one. */
export function* seeingEvents<R>(part: Op<R>, see: (event: NewEvent) => void): Op<R> {
  let next = part.next()
  while (!next.done) {
    const asked = next.value as Asked
    if (!isSeveral(asked) && typeof asked.appends === 'object') see(asked.appends)
    let reply: unknown
    try {
      reply = yield asked
    } catch (error) {
      next = part.throw(error)
      continue
    }
    next = part.next(reply)
  }
  return next.value
}
