// Checks every value before it is stored as JSON, so that every database returns exactly what was given, and the ledger holds
// nothing hostile (NUL, lone surrogates, prototype keys, excessive nesting).
import { types } from 'node:util'
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
    const loss = lossIn(value, 'carried')
    if (loss?.what === bigint || loss?.what === circular) throw refuse(what, `${placeOf(loss)} is ${loss.what}`, error)
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

/** How many lost parts of a result an error names. */
const maxNamedLosses = 10

/**
 * The JSON image of a result. What JSON cannot carry of it is reported, up to ten parts with their paths: the work is done, so nothing is refused that has an
 * image at all. Objects of classes count as their properties.
 * @throws what `toJson` throws.
 */
export function resultImage(value: unknown, what: string, report: (loss: ErrandError) => void): unknown {
  const image = fromJson(toJson(value, what))
  const losses = value === undefined ? [] : lossesIn(value, { instances: 'carried', most: maxNamedLosses + 1 })
  if (losses.length > 0) report(lostParts(losses, what))
  return image
}

function lostParts(losses: readonly Loss[], what: string): ErrandError {
  const paths = losses.slice(0, maxNamedLosses).map(({ path }) => ['result', ...path].join('.'))
  const named = paths.map((path, index) => `${path} was ${losses[index]?.what}`).join(', ')
  const more = losses.length > maxNamedLosses ? ', and there are more' : ''
  return new ErrandError(
    'INVALID_RESULT',
    `Part of ${what} is lost, because JSON cannot carry it: ${named}${more}. ${carried}`,
    { what, paths },
  )
}

const carried =
  'Use plain objects and lists of texts, finite numbers, booleans and null; a Date, or another object with `toJSON`, becomes what that returns.'

/** A value inside of another that JSON drops or changes. */
export interface Loss {
  /** Keys and indexes, outermost first; empty for the value itself. */
  path: Array<string | number>
  what: string
}

const bigint = 'a BigInt'
const circular = 'a circular reference'

/** The first part of a value that JSON cannot carry; undefined when it carries all. What counts as lost is described at `lossesIn`. */
export function lossIn(value: unknown, instances: LossWalk['instances'] = 'lost'): Loss | undefined {
  return lossesIn(value, { instances, most: 1 })[0]
}

/**
 * The parts of a value that JSON cannot carry, at most `most`. A property that is undefined counts as absent, and an object with `toJSON` as
 * what that returns. Objects of classes are `lost`, or `carried` as their properties.
 */
function lossesIn(value: unknown, { instances, most }: Pick<LossWalk, 'instances' | 'most'>): Loss[] {
  const walk: LossWalk = { instances, most, path: [], ancestors: [], losses: [] }
  try {
    visit(value, walk)
  } catch {
    // A getter or a `toJSON` threw. If it throws again, `toJson` refuses the value with that error.
  }
  return walk.losses
}

interface LossWalk {
  instances: 'lost' | 'carried'
  most: number
  /** Keys and indexes of the current value. */
  path: Array<string | number>
  /** The objects that contain the current value. */
  ancestors: object[]
  losses: Loss[]
}

function visit(value: unknown, walk: LossWalk): void {
  const what = typeof value === 'object' && value !== null ? lostObject(value, walk) : lostScalar(value)
  if (what !== undefined) walk.losses.push({ path: [...walk.path], what })
}

/** What the value is, if JSON cannot carry it. */
function lostScalar(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'undefined':
      return 'undefined'
    case 'bigint':
      return bigint
    default:
      return `a ${typeof value}`
  }
}

/** What the object is, if JSON cannot carry it as a whole; else visits its parts. */
function lostObject(value: object, walk: LossWalk): string | undefined {
  const { ancestors, path } = walk
  if (ancestors.includes(value)) return circular
  // `toJson` refuses what is nested deeper.
  if (ancestors.length > maxJsonDepth) return undefined
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return lostInstance(value, value, walk)
  if (types.isDate(value) && Number.isNaN(value.getTime())) return 'an invalid Date'
  const image: unknown = toJSON.call(value, String(path.at(-1) ?? ''))
  return typeof image === 'object' && image !== null ? lostInstance(image, value, walk) : lostScalar(image)
}

/** `self` is the object itself, and `value` what `toJSON` made of it. */
function lostInstance(value: object, self: object, walk: LossWalk): string | undefined {
  const isList = Array.isArray(value)
  if (!isList && !isPlain(value, walk)) return `an instance of ${classOf(value)}`
  walk.ancestors.push(self)
  // An array may have a property `keys` of its own.
  for (const key of isList ? Array.prototype.keys.call(value) : Object.keys(value)) {
    const inner: unknown = (value as Record<string | number, unknown>)[key]
    if (inner === undefined && !isList) continue
    walk.path.push(key)
    visit(inner, walk)
    walk.path.pop()
    if (walk.losses.length >= walk.most) break
  }
  walk.ancestors.pop()
  return undefined
}

/** Plain objects of other realms have a prototype of their own, which has none. */
function isPlain(value: object, { instances }: LossWalk): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null) return true
  return instances === 'carried' && Object.prototype.toString.call(value) === '[object Object]'
}

function classOf(value: object): string {
  const name: unknown = value.constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'a class without a name'
}

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
