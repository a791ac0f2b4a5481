// The time of a server, as far as this host knows it from the answers of the server: it never steps back.
import type { Clock } from '../../core/clock.ts'

/** A time that is ahead of the server passes at this rate until both agree. */
const rateAhead = 0.5

export class ServerTime {
  readonly #clock: Pick<Clock, 'now'>
  /** The clock of the server minus that of this host, in milliseconds. Undefined before they were compared. */
  #offsetMs: number | undefined
  /** How far this time was ahead of the server when they were last compared, and when that was. */
  #ahead = { ms: 0, at: 0 }
  #last = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  now(): number {
    const here = this.#clock.now()
    const aheadMs = Math.max(0, this.#ahead.ms - (here - this.#ahead.at) * (1 - rateAhead))
    // The clock of the host may itself be set back.
    this.#last = Math.max(this.#last, here + (this.#offsetMs ?? 0) + aheadMs)
    return this.#last
  }

  /**
   * Compares the clocks: the server said `there` between `sentAt` and now, of the clock of this host. However late the answer was read, the
   * offset changes by no more than that proves.
   */
  compare(there: number, sentAt: number): void {
    const here = this.#clock.now()
    const known = this.#offsetMs
    const before = known === undefined ? Number.NEGATIVE_INFINITY : this.now()
    this.#offsetMs =
      known === undefined ? there - (sentAt + here) / 2 : Math.min(Math.max(known, there - here), there - sentAt)
    this.#ahead = { ms: Math.max(0, before - (here + this.#offsetMs)), at: here }
  }
}
