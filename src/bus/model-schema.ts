// Schemas as models and MCP clients get them. Providers refuse the whole request for what they do not know in one tool: references (Moonshot,
// Gemini), recursion (packages of Gemini), and alternatives at the root (Anthropic; Claude Code leaves the tool out). zod still checks the
// arguments as the ability has them.
import type { JsonSchema } from './json-schema.ts'

type Json = Readonly<Record<string, unknown>>

/** Engines share the schemas of their abilities. */
const made = new WeakMap<JsonSchema, JsonSchema>()

/** The same schema without references and recursion, and with an object at its root. Inside a recursion, any value is allowed. */
export function modelSchema(schema: JsonSchema): JsonSchema {
  const known = made.get(schema)
  if (known !== undefined) return known
  const object = { type: 'object', ...withoutAlternatives(withoutReferences(schema)) }
  made.set(schema, object)
  return object
}

/** The schema of an answer in JSON, which need not be an object: alternatives stay if one of them is none. */
export function answerSchema(schema: JsonSchema): JsonSchema {
  const plain = withoutReferences(schema)
  const parts = ['oneOf', 'anyOf', 'allOf'].flatMap((key) => plain[key] ?? []) as Json[]
  return parts.length > 0 && parts.every(({ type }) => type === 'object') ? modelSchema(schema) : plain
}

/** Engines share these too. */
const madeBrief = new WeakMap<JsonSchema, JsonSchema>()

/** Keywords that only say which values are refused: lengths, numbers, other properties. The refusal says it too. */
const bounds: ReadonlySet<string> = new Set([
  'additionalProperties',
  'maximum',
  'maxItems',
  'maxLength',
  'minimum',
  'minItems',
  'minLength',
  'pattern',
])

/** The same schema without bounds, for a model that is offered many tools and reads all of them before each step. */
export function briefSchema(schema: JsonSchema): JsonSchema {
  const known = madeBrief.get(schema)
  if (known !== undefined) return known
  const brief = withoutBounds(schema) as JsonSchema
  madeBrief.set(schema, brief)
  return brief
}

function withoutBounds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBounds)
  if (!isObject(value)) return value
  // A property may have the name of a keyword, and other properties a schema: both are objects.
  const kept = Object.entries(value).filter(([key, each]) => isObject(each) || !bounds.has(key))
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutBounds(each)]))
}

function withoutReferences(schema: JsonSchema): Json {
  const { $schema: _dialect, ...rest } = inlined(schema, { root: schema, left: maxCopied }, [schema])
  return rest
}

/** Keywords that hold data, in which `$ref` means nothing. */
const dataKeywords: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples'])
/** Keywords that hold what references name, which is put in the places of the references. */
const definitionKeywords: ReadonlySet<string> = new Set(['$defs', 'definitions'])
/** Keywords that hold schemas by names, which may be names of keywords. */
const namedSchemas: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas'])

/** How many schemas may come from references: definitions that refer to others twice each would double at every level. */
const maxCopied = 2_000

interface Source {
  readonly root: Json
  /** How many more schemas may come from references; beyond them any value is allowed. */
  left: number
}

/** @param within the definitions that contain this schema */
function inlined(schema: Json, source: Source, within: readonly unknown[]): Json {
  if (within.length > 1) source.left -= 1
  const isReference = typeof schema['$ref'] === 'string'
  const target = isReference ? targetOf(source.root, schema['$ref'] as string) : undefined
  const isOpen = target === undefined || within.includes(target) || allowsAnything(target) || source.left <= 0
  const base = isOpen ? {} : inlined(target, source, [...within, target])
  const own = Object.entries(schema).filter(([key]) => !(isReference && key === '$ref') && !definitionKeywords.has(key))
  const parts = own.map(([key, value]) => {
    if (dataKeywords.has(key)) return [key, value]
    if (!namedSchemas.has(key) || !isObject(value)) return [key, inside(value, source, within)]
    return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inside(each, source, within)]))]
  })
  return { ...base, ...Object.fromEntries(parts) }
}

/** `z.json()`: alternatives for all types of JSON, which refer to themselves. */
function allowsAnything({ anyOf }: Json): boolean {
  const types = new Set(Array.isArray(anyOf) ? anyOf.map((each: Json) => each['type']) : [])
  return ['string', 'number', 'boolean', 'null', 'array', 'object'].every((type) => types.has(type))
}

function inside(value: unknown, source: Source, within: readonly unknown[]): unknown {
  if (Array.isArray(value)) return value.map((each) => inside(each, source, within))
  return isObject(value) ? inlined(value, source, within) : value
}

/** What a reference within the schema names; undefined for any other. */
function targetOf(root: Json, ref: string): Json | undefined {
  if (!/^#(\/|$)/.test(ref)) return undefined
  const steps = ref.split('/').slice(1)
  let target: unknown = root
  for (const step of steps) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    target =
      typeof target === 'object' && target !== null && Object.hasOwn(target, name) ? (target as Json)[name] : undefined
  }
  return isObject(target) ? target : undefined
}

/** One object in place of alternatives at the root: with the properties of all of them, of which those are required that all require. */
function withoutAlternatives({ oneOf, anyOf, allOf, ...rest }: Json): Json {
  const parts = [allOf].flat().filter(isObject).map(withoutAlternatives)
  const choices = [oneOf, anyOf].flatMap((list) =>
    Array.isArray(list) ? [merged(list.filter(isObject).map(withoutAlternatives), 'one')] : [],
  )
  return parts.length + choices.length === 0 ? rest : merged([rest, ...parts, ...choices], 'all')
}

/** @param which whether an object fits all of the schemas, or one of them */
function merged(schemas: readonly Json[], which: 'one' | 'all'): Json {
  const found = new Map<string, unknown[]>()
  for (const { properties } of schemas) {
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      found.set(name, [...(found.get(name) ?? []), property])
    }
  }
  const lists = schemas.map(({ required }) => (Array.isArray(required) ? (required as string[]) : []))
  const names = [...new Set(lists.flat())]
  const required = which === 'all' ? names : names.filter((name) => lists.every((list) => list.includes(name)))
  const described = schemas.filter(({ properties }) => isObject(properties))
  const isClosed =
    (which === 'one' || described.length === 1) &&
    described.every(({ additionalProperties }) => additionalProperties === false)
  const { properties: _properties, required: _required, additionalProperties: _additional, ...said } = schemas[0] ?? {}
  return {
    ...(which === 'all' ? said : {}),
    type: 'object',
    properties: Object.fromEntries(Array.from(found, ([name, each]) => [name, either(each)])),
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed ? { additionalProperties: false } : {}),
  }
}

/** What fits one of some schemas: a list of values where all of them are values, such as the names that distinguish alternatives. */
function either(schemas: readonly unknown[]): unknown {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  if (different.length === 1) return different[0]
  const values = different.map(valuesOf)
  if (values.some((list) => list === undefined)) return { anyOf: different }
  const [type, ...others] = new Set(different.map((schema) => (schema as Json)['type']))
  return { ...(type === undefined || others.length > 0 ? {} : { type }), enum: [...new Set(values.flat())] }
}

function valuesOf(schema: unknown): unknown[] | undefined {
  if (!isObject(schema)) return undefined
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
