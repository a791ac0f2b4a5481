// The JSON image of an unchecked value, bounded in size: for people who read an error, not for programs that need the value
// back. Unlike `toJson`, which refuses values that it cannot store faithfully, this accepts anything and never throws.
import { types } from 'node:util'
import { startOf, storableText } from './storable-text.ts'

/**
 * The image of `value`, in about `maxLength` characters of JSON; undefined where it has none. What has no JSON form becomes text: a bigint, a
 * cycle (`[Circular]`), a property whose getter throws, bytes (by their number). `isCut`: some of it did not fit.
 */
export function boundedImage(value: unknown, maxLength: number, maxDepth = 20): { image: unknown; isCut: boolean } {
  const walk: Walk = { left: maxLength, maxDepth, ancestors: new Set() }
  const image = imageOf(value, walk)
  return { image, isCut: walk.left < 0 }
}

interface Walk {
  /** Characters of JSON that are left, overestimated; the walk ends when none are. */
  left: number
  /** Deeper nesting is cut. */
  maxDepth: number
  /** The objects that contain the current one. */
  ancestors: Set<object>
}

function imageOf(value: unknown, walk: Walk): unknown {
  walk.left -= 1
  switch (typeof value) {
    case 'string':
      return textOf(value, walk)
    case 'number':
      // Adding 0 turns -0, which JSON does not keep, into 0.
      return Number.isFinite(value) ? value + 0 : null
    case 'bigint':
      return textOf(String(value), walk)
    case 'boolean':
      return value
    case 'object':
      return value === null ? null : safely(() => objectImage(value, walk))
    default:
      return undefined
  }
}

function textOf(text: string, walk: Walk): string {
  const kept = storableText(startOf(text, Math.max(0, walk.left)))
  walk.left -= text.length
  return kept
}

function objectImage(value: object, walk: Walk): unknown {
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (types.isBoxedPrimitive(value)) return imageOf(value.valueOf(), walk)
  if (walk.ancestors.has(value)) return '[Circular]'
  if (walk.ancestors.size >= walk.maxDepth) return '[nested too deep]'
  walk.ancestors.add(value)
  try {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON !== 'function') return contentsOf(value, walk)
    const given: unknown = toJSON.call(value, '')
    return typeof given === 'object' && given !== null ? contentsOf(given, walk) : imageOf(given, walk)
  } finally {
    walk.ancestors.delete(value)
  }
}

function contentsOf(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return listImage(value, walk)
  if (types.isMap(value) || types.isSet(value)) return listImage(value, walk)
  // Built from entries, so that `__proto__` is an own key like any other.
  const fields: Array<[string, unknown]> = []
  // The message of an error is not enumerable.
  const keys = types.isNativeError(value) ? ['name', 'message', ...Object.keys(value)] : Object.keys(value)
  for (const key of keys) {
    if (walk.left < 0) break
    const name = textOf(key, walk)
    const inner = safely(() => imageOf((value as Record<string, unknown>)[key], walk))
    if (inner !== undefined) fields.push([name, inner])
  }
  return Object.fromEntries(fields)
}

function listImage(items: Iterable<unknown>, walk: Walk): unknown[] {
  const images: unknown[] = []
  for (const item of items) {
    if (walk.left < 0) break
    images.push(imageOf(item, walk) ?? null)
  }
  return images
}

function safely(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return '[unreadable]'
  }
}
