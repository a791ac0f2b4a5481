// The gate of the ledger: decides what can be stored as JSON, so that every database returns exactly what was given. A value that is
// given is refused before anything acts on it. The result of work that is done is mended instead, and what cannot even be mended is lost
// with a reason: the work itself stays recorded. Every entry point uses these functions.
import { ErrandError } from './errors.ts'
import { bigint, circular, type Loss, lossesIn, lossIn, maxJsonDepth } from './json-losses.ts'
import { storableText, textFault } from './storable-text.ts'
import { messageOf, readableError } from './stored-error.ts'

export { type Loss, lossIn, maxJsonDepth } from './json-losses.ts'

/** Length of the JSON text of one value, in UTF-16 units. Larger values belong in a file whose path is stored. */
export const maxJsonLength = 4 * 1024 * 1024

/** Escapes of NUL and of halves of surrogate pairs; also found where a text quotes such an escape. */
const suspicious = /\\u0000|\\u[dD][89a-fA-F]/

/**
 * The JSON text of a value, `null` for undefined.
 * @throws ErrandError INVALID_INPUT when the value has no faithful JSON form; `what` names it in the message.
 */
export function toJson(value: unknown, what: string): string {
  if (value === undefined || value === null) return 'null'
  const made = textOf(value)
  if ('fault' in made) throw refuse(what, made.fault, made.cause)
  if (suspicious.test(made.text)) {
    JSON.parse(made.text, (key, inner: unknown) => {
      const fault = textFault(key) ?? (typeof inner === 'string' ? textFault(inner) : undefined)
      if (fault !== undefined) throw refuse(what, fault)
    })
  }
  return made.text
}

type MadeText = { text: string } | { fault: string; cause?: unknown }

/** The JSON text of a value within the bounds, or why it has none. */
function textOf(value: unknown, replacer?: (key: string, inner: unknown) => unknown): MadeText {
  let text: string | undefined
  try {
    text = JSON.stringify(value, replacer)
  } catch (thrown) {
    // Possibly thrown by a getter or a toJSON of the value.
    const cause = readableError(thrown)
    return { fault: faultOf(value, cause), cause }
  }
  if (text === undefined) return { fault: `a ${typeof value} has no JSON image` }
  if (text.length > maxJsonLength) {
    return { fault: `it is ${text.length} characters of JSON, at most ${maxJsonLength} are kept; store a path instead` }
  }
  if (text.length > maxJsonDepth && nesting(text) > maxJsonDepth) return { fault: tooDeep }
  return { text }
}

const tooDeep = `it is nested deeper than ${maxJsonDepth} levels`

/** Why `JSON.stringify` threw. */
function faultOf(value: unknown, cause: unknown): string {
  if (cause instanceof RangeError) return tooDeep
  const loss = lossIn(value, 'carried')
  if (loss?.what === bigint || loss?.what === circular) return `${placeOf(loss)} is ${loss.what}`
  return cause instanceof Error ? messageOf(cause) : 'it cannot be turned into JSON'
}

/**
 * The JSON image of a value that must be kept as it is: an input, params, metadata. `root` begins the path in the message.
 * @throws ErrandError INVALID_INPUT { what, path } when JSON cannot carry all of it, and what `toJson` throws.
 */
export function faithfulImage(value: unknown, what: string, root: string): unknown {
  const loss = value === undefined ? undefined : lossIn(value)
  if (loss === undefined) return fromJson(toJson(value, what))
  const path = [root, ...loss.path].join('.')
  throw new ErrandError(
    'INVALID_INPUT',
    `Cannot store ${what}: ${path} is ${loss.what}, which JSON cannot carry. ${carried}`,
    { what, path },
  )
}

/** What is recorded of the result of work that is done: its image, or why it has none. */
export type RecordedImage = { image: unknown } | { lost: string }

/**
 * The JSON image of a result; never throws. A BigInt becomes text, and texts that no database keeps are mended. What JSON cannot carry or
 * was changed is reported, up to ten parts with their paths. Objects of classes count as their properties.
 */
export function recordedImage(value: unknown, what: string, report: (loss: ErrandError) => void): RecordedImage {
  if (value === undefined || value === null) return { image: null }
  let made = textOf(value)
  if ('fault' in made) {
    const withTexts = textOf(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
    if ('fault' in withTexts) return { lost: made.fault }
    made = withTexts
  }
  const losses = lossesIn(value, { instances: 'carried', most: maxNamedLosses + 1 })
  let image = fromJson(made.text)
  if (suspicious.test(made.text)) image = mended(image, [], losses)
  if (losses.length > 0) report(lostParts(losses, what))
  return { image }
}

/**
 * The JSON image of a result that a caller states, mended like any result.
 * @throws ErrandError INVALID_INPUT for one that has no image at all.
 */
export function resultImage(value: unknown, what: string, report: (loss: ErrandError) => void): unknown {
  const recorded = recordedImage(value, what, report)
  if ('lost' in recorded) throw refuse(what, recorded.lost)
  return recorded.image
}

/** The JSON value with texts and keys that every database keeps. */
function mended(value: unknown, path: Loss['path'], losses: Loss[]): unknown {
  if (typeof value === 'string') {
    const text = storableText(value)
    if (text !== value) losses.push({ path, what: 'a text with a NUL character or half of a surrogate pair' })
    return text
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((inner, index) => mended(inner, [...path, index], losses))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = mended(key, [...path, storableText(key)], losses) as string
      return [name, mended(inner, [...path, name], losses)]
    }),
  )
}

/** How many lost parts of a result an error names. */
const maxNamedLosses = 10

function lostParts(losses: readonly Loss[], what: string): ErrandError {
  const paths = losses.slice(0, maxNamedLosses).map(({ path }) => ['result', ...path].join('.'))
  const named = paths.map((path, index) => `${path} was ${losses[index]?.what}`).join(', ')
  const more = losses.length > maxNamedLosses ? ', and there are more' : ''
  return new ErrandError(
    'INVALID_RESULT',
    `Part of ${what} is lost or changed, because the ledger cannot carry it: ${named}${more}. ${carried}`,
    { what, paths },
  )
}

const carried =
  'Use plain objects and lists of texts, finite numbers, booleans and null; a Date, or another object with `toJSON`, becomes what that returns.'

function placeOf({ path }: Loss): string {
  return path.length === 0 ? 'it' : path.join('.')
}

/** The value of a JSON text that `toJson` wrote. */
export function fromJson<T = unknown>(text: string): T {
  if (text === '{}') return {} as T
  if (text === 'null') return null as T
  return JSON.parse(text) as T
}

/** The object that a JSON text encodes; undefined for any other value, arrays included, and for invalid JSON. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return value as Record<string, unknown>
  } catch {
    return undefined
  }
}

/**
 * Returns the text, which every database keeps byte for byte.
 * @throws ErrandError INVALID_INPUT for NUL, a lone surrogate or too many characters.
 */
export function checkText(text: string, what: string): string {
  if (text.length > maxJsonLength)
    throw refuse(what, `it has ${text.length} characters, at most ${maxJsonLength} are kept`)
  const fault = textFault(text)
  if (fault !== undefined) throw refuse(what, fault)
  return text
}

/** JSON with the keys sorted at every level, so that equal values have equal texts. For identity, not for storage. */
export function canonicalJson(value: unknown): string {
  if (isInOrder(value)) return JSON.stringify(value)
  return (
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
      return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
    }) ?? 'null'
  )
}

/** A plain value whose objects have their keys in order, as most params do: nothing needs to be sorted. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === null || isPlainScalar(value)
  if (Array.isArray(value)) return value.every(isInOrder)
  if ('toJSON' in value) return false
  let before = ''
  for (const [key, inner] of Object.entries(value)) {
    if (key < before || !isInOrder(inner)) return false
    before = key
  }
  return true
}

function isPlainScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function nesting(text: string): number {
  let depth = 0
  let maxDepth = 0
  let quoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (quoted) {
      if (character === 92) index++
      else if (character === 34) quoted = false
    } else if (character === 34) quoted = true
    else if (character === 123 || character === 91) maxDepth = Math.max(maxDepth, ++depth)
    else if (character === 125 || character === 93) depth--
  }
  return maxDepth
}

function refuse(what: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError('INVALID_INPUT', `Cannot store ${what}: ${why}.`, { what }, cause)
}
