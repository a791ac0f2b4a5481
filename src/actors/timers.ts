// One armed timer for the soonest of all timer rows. A long delay is waited for in pieces, looking at the clock after each: so it
// follows a clock that was set, a machine that slept, and delays longer than Node can wait for.
import type { Clock } from '../clock.ts'

const longestPieceMs = 30_000

export class SoonestTimer {
  readonly #clock: Clock
  readonly #fire: () => void
  #dueAt: number | null = null
  #handle: unknown

  constructor(clock: Clock, fire: () => void) {
    this.#clock = clock
    this.#fire = fire
  }

  /** Something is due at this time; only the soonest is waited for. */
  arm(dueAt: number): void {
    if (this.#dueAt !== null && this.#dueAt <= dueAt) return
    this.disarm()
    this.#dueAt = dueAt
    this.#wait()
  }

  disarm(): void {
    this.#clock.clearTimeout(this.#handle)
    this.#handle = undefined
    this.#dueAt = null
  }

  #wait(): void {
    const left = Math.max(0, (this.#dueAt as number) - this.#clock.now())
    this.#handle = this.#clock.setTimeout(
      () => {
        if (this.#dueAt !== null && this.#clock.now() < this.#dueAt) return this.#wait()
        this.#handle = undefined
        this.#dueAt = null
        this.#fire()
      },
      Math.min(left, longestPieceMs),
    )
  }
}
