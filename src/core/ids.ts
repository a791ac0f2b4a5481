// Ids and random numbers as a port: the only file that draws random numbers. Tests inject a counter.
import { sha256 } from './sha256.ts'

/** Loaded with the first id: many commands need none. */
const crypto = () => process.getBuiltinModule('node:crypto')

/** Makes ids and random numbers. `next('task')` must return `task-` followed by lower-case letters and digits, unique each time. */
export interface Ids {
  next(prefix: string): string
  /** A number in [0, 1), for jitter. */
  random(): number
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const idLength = 13 // of 32 letters: 65 random bits
/** Ids drawn one after the other that begin with the same letters, and how many letters these are. */
const idsInCluster = 64
const sharedLength = 3

/**
 * Ids from the system's random source. Up to 64 that are drawn one after the other begin with the same three letters: the rows of tasks that
 * are created together, of their runs and their events are then neighbours in every index that begins with an id, and a commit writes one
 * page of it instead of one for each row.
 */
export function createRandomIds(): Ids {
  const pool = Buffer.alloc(idLength * 256)
  let used = pool.length
  let shared = ''
  let left = 0

  function letters(count: number): string {
    if (used + count > pool.length) {
      crypto().randomFillSync(pool)
      used = 0
    }
    let text = ''
    for (let end = used + count; used < end; used++) text += alphabet[(pool[used] as number) & 31]
    return text
  }

  return {
    next(prefix) {
      if (left === 0) {
        shared = letters(sharedLength)
        left = idsInCluster
      }
      left--
      return `${prefix}-${shared}${letters(idLength - sharedLength)}`
    },
    random: () => Math.random(),
  }
}

/** A random text of lower-case letters and digits, five bits each. */
export function randomText(length: number): string {
  return Array.from(crypto().randomBytes(length), (byte) => alphabet.charAt(byte & 31)).join('')
}

/** An id derived from an identity: repeated after a crash, the call returns the same id. */
export function idUnder(prefix: string, identity: string): string {
  return `${prefix}-${sha256(identity).slice(0, 26)}`
}

/** A UUID of version 4 derived from other ids. It needs 122 random bits; three ids hold at least 150. */
export function uuidOf(ids: string): string {
  const digits = sha256(ids)
  const variant = '89ab'[Number.parseInt(digits.charAt(16), 16) % 4] as string
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-')
}
