// Distinguishes schemas of zod 4 from those of other versions and libraries, which look like them and would be taken for something else.
import { z } from 'zod'
import { typeName } from './type-name.ts'

/** What a schema that is not one of zod 4 is, for messages; undefined for any other value. */
export function foreignSchema(value: unknown): string | undefined {
  if (value instanceof z.ZodType || value === null || !['object', 'function'].includes(typeof value)) return undefined
  const { _zod, _def, '~standard': standard } = value as Record<string, Record<string, unknown> | undefined>
  if (_zod !== undefined) return 'a schema of zod/mini'
  if (String(_def?.['typeName']).startsWith('Zod')) return 'a schema of zod 3'
  // The JSON Schemas that zod writes have this key too.
  const vendor = standard?.['vendor']
  return typeof vendor !== 'string' || vendor === 'zod' ? undefined : `a schema of ${vendor}`
}

/** What to write in place of a foreign schema. */
export const zodFour = "a schema of zod 4 (`import { z } from 'zod'`, version 4)"

export const zodSchema = z.custom<z.ZodType>((value) => value instanceof z.ZodType, {
  error: ({ input }) => `expected ${zodFour}, got ${foreignSchema(input) ?? typeName(input)}`,
})

/** What to write for a type of which JSON has no values. */
const instead: Readonly<Record<string, string>> = {
  date: '`z.iso.datetime()`, or `z.coerce.date()` for a Date',
  bigint: '`z.string()`, or `z.coerce.bigint()` for a bigint',
  map: '`z.record()`',
  set: '`z.array()`',
  symbol: '`z.string()`',
  function: 'the name of what is to be called',
  file: 'the path of the file',
  nan: '`z.null()`',
}

/** Parts of a schema that say nothing about their values. */
const wrappers: ReadonlySet<string> = new Set(['optional', 'nullable', 'readonly', 'nonoptional'])

/** A part of a schema that no JSON value fits, with what to write instead. */
export interface UnfitPart {
  path: Array<string | number>
  type: string
  instead: string
}

/**
 * The first part that no JSON value fits; undefined if there is none. What is coerced, has a default or is the input of a codec may fit, and one
 * fitting alternative is enough. Lazy schemas are not looked into: that would run a function of the user.
 */
export function unfitPart(
  schema: z.core.$ZodType,
  path: Array<string | number> = [],
  above: readonly unknown[] = [],
): UnfitPart | undefined {
  // A schema that contains itself fits what fits its other parts.
  if (above.includes(schema)) return undefined
  const part = (inner: unknown, at: Array<string | number> = path) =>
    unfitPart(inner as z.core.$ZodType, at, [...above, schema])
  const def = schema._zod.def as z.core.$ZodTypeDef & Record<string, unknown>
  const { type } = def
  if (Object.hasOwn(instead, type)) {
    return def['coerce'] === true ? undefined : { path, type, instead: instead[type] as string }
  }
  if (wrappers.has(type)) return part(def['innerType'])
  if (type === 'pipe') return part(def['in'])
  if (type === 'intersection') return part(def['left']) ?? part(def['right'])
  if (type === 'array') return part(def['element'], [...path, 'item'])
  if (type === 'record') return part(def['valueType'], [...path, 'value'])
  if (type === 'union') {
    const unfit = (def['options'] as unknown[]).map((option) => part(option))
    return unfit.every((each) => each !== undefined) ? unfit[0] : undefined
  }
  const parts =
    type === 'object'
      ? Object.entries(def['shape'] as object)
      : type === 'tuple'
        ? Object.entries(def['items'] as object)
        : []
  for (const [key, inner] of parts) {
    const unfit = part(inner, [...path, key])
    if (unfit !== undefined) return unfit
  }
  return undefined
}
