// Time for tests of the divergence guard: it stands still until it is moved, and reports when a call is held.
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'

/**
 * How long a run may request nothing in these tests; the guard counts it in twenty ticks, and nothing else waits as
 * long as one.
 */
export const divergenceWaitMs = 2_060
const tickMs = divergenceWaitMs / 20

export class HoldingClock extends SimulatedClock {
  readonly #ticks = new Set<unknown>()
  #waiting: Array<() => void> = []

  override setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown {
    if (timeoutMs !== tickMs) return super.setTimeout(fn, timeoutMs)
    const timer: unknown = super.setTimeout(() => {
      this.#ticks.delete(timer)
      fn()
    }, timeoutMs)
    this.#ticks.add(timer)
    for (const wake of this.#waiting.splice(0)) wake()
    return timer
  }

  override clearTimeout(id: unknown): void {
    this.#ticks.delete(id)
    super.clearTimeout(id)
  }

  get isHolding(): boolean {
    return this.#ticks.size > 0
  }

  /** Resolves when a call is held. */
  async holding(): Promise<void> {
    if (!this.isHolding) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Lets time pass tick by tick, with turns of the event loop in between, until the promise has settled. */
  async until<R>(promise: Promise<R>): Promise<R> {
    let isOver = false
    const over = promise.finally(() => {
      isOver = true
    })
    over.catch(() => {})
    while (!isOver) {
      await turn()
      this.increment(tickMs)
    }
    return over
  }
}

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
