// A token bucket for each key: it refills at a steady rate and holds at most `burst` tokens.
import type { Clock } from '../../core/clock.ts'

interface Bucket {
  /** Number of tokens at the time `at`. */
  tokens: number
  at: number
}

/** Maximum number of buckets. The least recently used are dropped first; a new bucket is full. */
const maxBuckets = 10_000

export class RateLimit {
  readonly #limit: { perSecond: number; burst: number }
  readonly #clock: Clock
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: { perSecond: number; burst: number }, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Takes one token. Returns 0 on success, else the number of seconds until one is available. */
  draw(key: string): number {
    const { perSecond, burst } = this.#limit
    const now = this.#clock.now()
    const { tokens, at } = this.#buckets.get(key) ?? { tokens: burst, at: now }
    // A wall clock may go back; that must not remove tokens.
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

// Limits how many resources, such as streams, a surface keeps open: per principal and in total.

/** A slot, or the limit that was reached. */
type SlotResult = { release: () => void } | { full: 'principal' | 'all' }

export class OpenLimit {
  readonly #maxTotal: number
  readonly #maxPerPrincipal: number
  readonly #held = new Map<string, number>()
  #all = 0

  constructor({ maxTotal = Infinity, maxPerPrincipal }: { maxTotal?: number; maxPerPrincipal: number }) {
    this.#maxTotal = maxTotal
    this.#maxPerPrincipal = maxPerPrincipal
  }

  /** Takes a slot. Calling `release` more than once has no further effect. */
  take(principal: string): SlotResult {
    const held = this.#held.get(principal) ?? 0
    if (held >= this.#maxPerPrincipal) return { full: 'principal' }
    if (this.#all >= this.#maxTotal) return { full: 'all' }
    this.#held.set(principal, held + 1)
    this.#all += 1
    let released = false
    return {
      release: () => {
        if (!released) this.#release(principal)
        released = true
      },
    }
  }

  #release(principal: string): void {
    const left = (this.#held.get(principal) ?? 1) - 1
    this.#all -= 1
    if (left === 0) this.#held.delete(principal)
    else this.#held.set(principal, left)
  }
}
