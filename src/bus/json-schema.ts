// Schemas in both forms: an ability is written with zod or with plain JSON Schema, and always has both, zod for validation and
// JSON Schema for models, documents and other processes.
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { requireJsonInput, requireSync } from '../core/parse.ts'
import { foreignSchema, zodFour } from '../core/zod-schema.ts'

/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The schema of an ability's input or output. */
export type AbilitySchema = z.ZodType | JsonSchema

/** The input type of a schema; unknown for a plain JSON Schema. */
export type GivenBy<S extends AbilitySchema> = S extends z.ZodType ? z.input<S> : unknown
/** The type of a value that the schema has parsed. */
export type ParsedBy<S extends AbilitySchema> = S extends z.ZodType ? z.output<S> : unknown

export interface SchemaPair {
  zod: z.ZodType
  /** Made on first access, once per zod schema and process: most programs never use it. */
  json(): JsonSchema
}

export const abilitySchemaSchema = z.custom<AbilitySchema>(
  (value) => value instanceof z.ZodType || (isPlainObject(value) && foreignSchema(value) === undefined),
  {
    error: ({ input }) => {
      const foreign = foreignSchema(input)
      return `expected ${zodFour} or a JSON Schema object${foreign === undefined ? '' : `, got ${foreign}`}`
    },
  },
)

/**
 * Both forms of a schema. The JSON form of a zod schema describes its input or its output, as `io` says; what JSON Schema cannot
 * express (the result of a transform, a live object) becomes a schema that allows anything, and zod still validates it.
 * @throws ErrandError INVALID_INPUT when the schema cannot be converted (for a zod schema, on first access of the JSON form); `what` names
 *   it in the message.
 */
export function schemaPair(schema: AbilitySchema, io: 'input' | 'output', what: string): SchemaPair {
  if (schema instanceof z.ZodType) {
    const zod = io === 'input' ? requireJsonInput(schema, what) : requireSync(schema, what)
    return { zod, json: () => sharedJson(schema, io, what) }
  }
  return usable(what, () => {
    const json = frozenCopy(schema)
    return { zod: z.fromJSONSchema(schema), json: () => json }
  })
}

/** The JSON forms of zod schemas: engines share the schemas of their own abilities. */
const sharedForms = { input: new WeakMap<z.ZodType, JsonSchema>(), output: new WeakMap<z.ZodType, JsonSchema>() }

function sharedJson(schema: z.ZodType, io: 'input' | 'output', what: string): JsonSchema {
  const forms = sharedForms[io]
  let made = forms.get(schema)
  if (made === undefined) {
    made = usable(what, () => toPlainSchema(schema, io))
    forms.set(schema, made)
  }
  return made
}

function usable<T>(what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ErrandError('INVALID_INPUT', `${what} is not a usable schema: ${why}.`, { what }, error)
  }
}

function toPlainSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return frozenCopy(
    z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        // zod sets additionalProperties: false on every object of an output, although only a strict object refuses other keys.
        const { def } = zodSchema._zod
        if (def.type !== 'object') return
        const catchall = (def as z.core.$ZodObjectDef).catchall?._zod.def.type
        if (catchall === undefined || catchall === 'unknown' || catchall === 'any')
          delete jsonSchema.additionalProperties
      },
    }),
  )
}

/** Drops everything that JSON cannot hold, because zod adds its own functions to the schemas that it creates. */
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

/** True for an object from a literal or from JSON. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
