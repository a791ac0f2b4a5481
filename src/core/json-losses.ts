// What of a value JSON drops or changes, with the place of each part. Apart from json.ts, which decides what follows from it.
import { types } from 'node:util'

/** Nesting of one value. */
export const maxJsonDepth = 64

/** A value inside of another that JSON drops or changes. */
export interface Loss {
  /** Keys and indexes, outermost first; empty for the value itself. */
  path: Array<string | number>
  what: string
}

export const bigint = 'a BigInt'
export const circular = 'a circular reference'

/** The first part of a value that JSON cannot carry; undefined when it carries all. What counts as lost is described at `lossesIn`. */
export function lossIn(value: unknown, instances: LossWalk['instances'] = 'lost'): Loss | undefined {
  return lossesIn(value, { instances, most: 1 })[0]
}

/**
 * The parts of a value that JSON cannot carry, at most `most`. A property that is undefined counts as absent, and an object with `toJSON` as
 * what that returns. Objects of classes are `lost`, or `carried` as their properties; `never` loses those too that have a `toJSON`, because
 * what is read back is not what was written: a text in place of a Date.
 */
export function lossesIn(value: unknown, { instances, most }: Pick<LossWalk, 'instances' | 'most'>): Loss[] {
  const walk: LossWalk = { instances, most, path: [], ancestors: [], losses: [] }
  try {
    visit(value, walk)
  } catch {
    // A getter or a `toJSON` threw. If it throws again, the value has no JSON text at all.
  }
  return walk.losses
}

interface LossWalk {
  instances: 'lost' | 'carried' | 'never'
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
  // What is nested deeper is refused, or lost as a whole.
  if (ancestors.length > maxJsonDepth) return undefined
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON !== 'function' || walk.instances === 'never') return lostInstance(value, value, walk)
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
