// Identity and chance as a port: the only file that draws random numbers. Tests inject a counter.
import { createHash, randomFillSync } from 'node:crypto'

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
  return `${prefix}-${createHash('sha256').update(identity).digest('hex').slice(0, 26)}`
}
