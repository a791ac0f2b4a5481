// Ids and random numbers as a port: the only file that draws random numbers. Tests inject a counter.
import { hash, randomFillSync } from 'node:crypto'

/** Makes ids and random numbers. `next('task')` must return `task-` followed by lower-case letters and digits, unique each time. */
export interface Ids {
  next(prefix: string): string
  /** A number in [0, 1), for jitter. */
  random(): number
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const idLength = 13 // of 32 letters: 65 random bits

/** Ids from the system's random source, drawn from a pool so that one id costs less than a microsecond. */
export function createRandomIds(): Ids {
  const pool = Buffer.alloc(idLength * 256)
  let used = pool.length
  return {
    next(prefix) {
      if (used + idLength > pool.length) {
        randomFillSync(pool)
        used = 0
      }
      let id = `${prefix}-`
      for (let end = used + idLength; used < end; used++) id += alphabet[(pool[used] as number) & 31]
      return id
    },
    random: () => Math.random(),
  }
}

/** An id derived from an identity: repeated after a crash, the call returns the same id. */
export function idUnder(prefix: string, identity: string): string {
  return `${prefix}-${hash('sha256', identity).slice(0, 26)}`
}

/** A UUID of version 4 derived from other ids. It needs 122 random bits; two ids hold 130. */
export function uuidOf(ids: string): string {
  const digits = hash('sha256', ids)
  const variant = '89ab'[Number.parseInt(digits.charAt(16), 16) % 4] as string
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-')
}
