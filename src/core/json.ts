// Checks every value before it is stored as JSON, so that every database returns exactly what was given, and the ledger holds
// nothing hostile (NUL, lone surrogates, prototype keys, excessive nesting).
import { ErrandError } from './errors.ts'
import { readableError } from './stored-error.ts'

/** Length of the JSON text of one value, in UTF-16 units. Larger values belong in a file whose path is stored. */
export const maxJsonLength = 4 * 1024 * 1024
/** Nesting of one value. */
export const maxJsonDepth = 64

const suspicious = /\\u0000|\\u[dD][89a-fA-F]|"__proto__"|"constructor"|"prototype"/

/**
 * The JSON text of a value, `null` for undefined.
 * @throws ErrandError INVALID_INPUT when the value has no faithful JSON form; `what` names it in the message.
 */
export function toJson(value: unknown, what: string): string {
  if (value === undefined || value === null) return 'null'
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (thrown) {
    // Possibly thrown by a getter or a toJSON of the value.
    const error = readableError(thrown)
    if (error instanceof RangeError) throw refuse(what, `it is nested deeper than ${maxJsonDepth} levels`, error)
    throw refuse(what, error instanceof Error ? error.message : 'it cannot be turned into JSON', error)
  }
  if (text === undefined) throw refuse(what, `a ${typeof value} has no JSON image`)
  if (text.length > maxJsonLength) {
    throw refuse(
      what,
      `it is ${text.length} characters of JSON, at most ${maxJsonLength} are kept; store a path instead`,
    )
  }
  if (text.length > maxJsonDepth && nesting(text) > maxJsonDepth)
    throw refuse(what, `it is nested deeper than ${maxJsonDepth} levels`)
  if (suspicious.test(text)) inspect(JSON.parse(text), what)
  return text
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
  if (text.includes('\u0000')) throw refuse(what, 'it holds a NUL character, which PostgreSQL cannot store')
  if (!text.isWellFormed()) throw refuse(what, 'it holds half of a surrogate pair, which no UTF-8 store can keep')
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

function inspect(value: unknown, what: string): void {
  if (typeof value === 'string') checkText(value, what)
  else if (Array.isArray(value)) for (const item of value) inspect(item, what)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
        throw refuse(what, `it has the key "${key}", which could reach an object's prototype`)
      }
      checkText(key, what)
      inspect(inner, what)
    }
  }
}

function refuse(what: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError('INVALID_INPUT', `Cannot store ${what}: ${why}.`, { what }, cause)
}
