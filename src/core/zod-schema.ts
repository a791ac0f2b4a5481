// Distinguishes schemas of zod 4 from those of other versions and libraries, which look like them and would be taken for something else.
import { z } from 'zod'
import { kindOf } from './kind-of.ts'

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
  error: ({ input }) => `expected ${zodFour}, got ${foreignSchema(input) ?? kindOf(input)}`,
})
