// Ids and random numbers as a port: the only file that draws random numbers. Tests inject a counter.
import { hash, randomBytes, randomInt } from 'node:crypto'

/** Makes ids and random numbers. `next('task')` must return `task-` followed by lower-case letters and digits, unique each time. */
export interface Ids {
  next(prefix: string): string
  /** A number in [0, 1), for jitter. */
  random(): number
}

/** In the order of their codes, so that ids that follow each other are neighbours in an index. */
const alphabet = '234567abcdefghijklmnopqrstuvwxyz'
const last = alphabet.length - 1
const idLength = 13 // of 32 letters: 65 bits

/**
 * Ids that follow each other from a random start: the rows of new tasks, their runs and events are then neighbours in every index that
 * begins with an id, and a commit writes a few pages of it instead of one for each row. Two processes draw the same id only if their
 * starts, of 65 random bits, are nearer to each other than the number of ids they draw. An id is not a secret: the next one can be guessed.
 */
export function createRandomIds(): Ids {
  const letters = [...randomText(idLength)]
  let head = letters.slice(0, -1).join('')
  return {
    next(prefix) {
      let place = idLength - 1
      for (; letters[place] === alphabet[last]; place--) letters[place] = alphabet.charAt(0)
      letters[place] = alphabet.charAt(alphabet.indexOf(letters[place] as string) + 1)
      if (place < idLength - 1) head = letters.slice(0, -1).join('')
      return `${prefix}-${head}${letters[idLength - 1]}`
    },
    random: () => randomInt(2 ** 47) / 2 ** 47,
  }
}

/** A random text of `length` lower-case letters and digits, each of five bits. */
export function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet.charAt(byte & last)).join('')
}

/** An id derived from an identity: repeated after a crash, the call returns the same id. */
export function idUnder(prefix: string, identity: string): string {
  return `${prefix}-${hash('sha256', identity).slice(0, 26)}`
}

/** A UUID of version 4 derived from a text that is different each time. */
export function uuidOf(text: string): string {
  const digits = hash('sha256', text)
  const variant = '89ab'[Number.parseInt(digits.charAt(16), 16) % 4] as string
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-')
}
