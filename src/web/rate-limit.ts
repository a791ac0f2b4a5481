// How many requests somebody may send: a bucket each, which fills at a steady rate and holds so many at most.
import type { Clock } from '../core/clock.ts'

interface Bucket {
  /** What was in it at that time. */
  tokens: number
  at: number
}

/** Buckets that are kept; those that nobody has drawn from for longest go first, and a new one is full. */
const maxBuckets = 10_000

export class RateLimit {
  readonly #limit: { perSecond: number; burst: number }
  readonly #clock: Clock
  /** In the order in which they were last drawn from. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: { perSecond: number; burst: number }, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Takes one out of the bucket. 0 when there was one; else in how many seconds there will be. */
  draw(key: string): number {
    const { perSecond, burst } = this.#limit
    const now = this.#clock.now()
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now }
    // A wall clock may go back; nobody loses anything by it.
    const filled = Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond)
    const left = filled >= 1 ? filled - 1 : filled
    this.#buckets.delete(key)
    this.#buckets.set(key, { tokens: left, at: now })
    this.#forgetOldest()
    return filled >= 1 ? 0 : (1 - filled) / perSecond
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= maxBuckets) return
    const [oldest] = this.#buckets.keys()
    this.#buckets.delete(oldest as string)
  }
}
