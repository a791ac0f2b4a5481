// Schemas from both sides: an ability is authored with zod or with plain JSON Schema, and always has both, one to judge by
// and one to show to models, documents and other processes.
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'

/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** What an ability's input and output may be written in. */
export type AbilitySchema = z.ZodType | JsonSchema

/** What a caller gives under a schema; with a plain JSON Schema the types know nothing. */
export type GivenBy<S extends AbilitySchema> = S extends z.ZodType ? z.input<S> : unknown
/** What a value is once the schema has parsed it. */
export type ParsedBy<S extends AbilitySchema> = S extends z.ZodType ? z.output<S> : unknown

export interface SchemaPair {
  zod: z.ZodType
  /** Made when it is first looked at: an engine has some fifty of them, and most engines are never asked. */
  json(): JsonSchema
}

export const abilitySchemaSchema = z.custom<AbilitySchema>(
  (value) => value instanceof z.ZodType || isPlainObject(value),
  'expected a zod schema or a JSON Schema object',
)

/**
 * Both forms of a schema. Of a zod schema the JSON form is what goes in (`input`) or comes out (`output`); what JSON Schema
 * cannot say (a transform's result, a live object) becomes a schema that allows anything, and zod still judges it.
 * @throws ErrandError INVALID_INPUT when it has no second form (for a zod schema, when that is first looked at); `what` names it in
 *   the message.
 */
export function schemaPair(schema: AbilitySchema, io: 'input' | 'output', what: string): SchemaPair {
  if (schema instanceof z.ZodType) {
    let made: JsonSchema | undefined
    return { zod: schema, json: () => (made ??= usable(what, () => toPlainSchema(schema, io))) }
  }
  return usable(what, () => {
    const json = frozenCopy(schema)
    return { zod: z.fromJSONSchema(schema), json: () => json }
  })
}

function usable<T>(what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ErrandError('INVALID_INPUT', `${what} is no usable schema: ${why}.`, { what }, error)
  }
}

function toPlainSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return frozenCopy(
    z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // zod closes every object that it describes as output, although only a strict one refuses other keys.
        const { def } = zodSchema._zod
        if (def.type !== 'object') return
        const catchall = (def as z.core.$ZodObjectDef).catchall?._zod.def.type
        if (catchall === undefined || catchall === 'unknown' || catchall === 'any')
          delete jsonSchema.additionalProperties
      },
    }),
  )
}

/** Only what JSON keeps: zod hangs its own functions on the schemas it makes. */
function frozenCopy(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => Object.freeze(value)) as JsonSchema
}

/** The schemas of an object's fields, by name. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Record<string, JsonSchema>
}

export function hasField(schema: JsonSchema, field: string): boolean {
  return Object.hasOwn(propertiesOf(schema), field)
}

/** An object as a literal makes it, or JSON. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
