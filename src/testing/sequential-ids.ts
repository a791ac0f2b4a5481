// Ids in order and randomness from a seed: a test draws the same in every run.
import type { Ids } from '../core/ids.ts'

/**
 * Sequential ids: `task-1`, `task-2`, `call-3`. One counter for all prefixes, so that the order of drawing can be read off.
 *
 * @example
 * const engine = await createEngine({ ledger: ':memory:', ids: createSequentialIds() })
 */
export function createSequentialIds(seed = 1): Ids {
  let drawn = 0
  let state = seed >>> 0
  return {
    next(prefix) {
      drawn += 1
      return `${prefix}-${drawn}`
    },
    random() {
      // Mulberry32: small, and good enough for jitter.
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
  }
}
