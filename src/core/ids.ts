// Identity and chance as a port: the only file that draws random numbers. Tests inject a counter.
import { hash, randomFillSync } from 'node:crypto'

/** Makes ids and random numbers. `next('task')` must give `task-` and lower-case letters and digits, never the same twice. */
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

/** The id of what is made once under an identity: said again after a crash, it is the same one. */
export function idUnder(prefix: string, identity: string): string {
  return `${prefix}-${hash('sha256', identity).slice(0, 26)}`
}

/** A UUID of version 4, made of other ids: two of them hold 130 random bits, and it takes 122. */
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
