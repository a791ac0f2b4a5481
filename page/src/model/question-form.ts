// Converts the JSON Schema of a question, or of the input of an executor, to a form, and the form to a value. Schemas that do not fit a form are entered as JSON.

export type Field =
  | { kind: 'text'; multiline: boolean }
  | { kind: 'number'; whole: boolean; min: number | null; max: number | null }
  | { kind: 'boolean' }
  | { kind: 'choice'; values: unknown[] }
  | {
      kind: 'fields'
      fields: FormField[]
    }
  | { kind: 'json' }

export interface FormField {
  name: string
  title: string
  required: boolean
  field: Field
  description: string | null
  /** The default of its schema; undefined if there is none. */
  initial: unknown
}

type Schema = Record<string, unknown>

/** Without a schema any answer is valid: a text field is the most useful form. */
export function fieldOf(schema: unknown, depth = 0): Field {
  if (schema === null || schema === undefined || schema === true) return { kind: 'text', multiline: true }
  if (typeof schema !== 'object') return { kind: 'json' }
  const given = schema as Schema
  const choices = choicesIn(given)
  if (choices !== undefined) return { kind: 'choice', values: choices }
  if (given['anyOf'] !== undefined || given['oneOf'] !== undefined || given['allOf'] !== undefined)
    return { kind: 'json' }
  switch (given['type']) {
    case 'string':
      return { kind: 'text', multiline: !(typeof given['maxLength'] === 'number' && given['maxLength'] <= 80) }
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        whole: given['type'] === 'integer',
        min: boundOf(given, 'minimum'),
        max: boundOf(given, 'maximum'),
      }
    case 'boolean':
      return { kind: 'boolean' }
    case 'object':
      return depth === 0 ? fieldsOf(given) : { kind: 'json' }
    default:
      return { kind: 'json' }
  }
}

function choicesIn(schema: Schema): unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum']
  if ('const' in schema) return [schema['const']]
  const several = schema['anyOf'] ?? schema['oneOf']
  if (!Array.isArray(several) || several.length === 0) return undefined
  if (!several.every((each: unknown) => typeof each === 'object' && each !== null && 'const' in each)) return undefined
  return several.map((each: { const: unknown }) => each.const)
}

function boundOf(schema: Schema, key: string): number | null {
  const bound = schema[key]
  // Generated schemas of integers often have the largest safe integer as a bound, which is not a real limit.
  return typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null
}

function fieldsOf(schema: Schema): Field {
  const properties = schema['properties']
  if (typeof properties !== 'object' || properties === null || Object.keys(properties).length === 0)
    return { kind: 'json' }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return {
    kind: 'fields',
    fields: Object.entries(properties as Record<string, Schema>).map(([name, each]) => ({
      name,
      title: typeof each['title'] === 'string' ? each['title'] : name,
      description: typeof each['description'] === 'string' ? each['description'] : null,
      required: required.has(name),
      field: fieldOf(each, 1),
      initial: each['default'],
    })),
  }
}

/** The contents of the form: a text for each input, nested for objects. */
export type Entered = string | { [name: string]: Entered }

/** The initial contents of the form: the default of the question, or else those of the fields. */
export function enteredFrom(field: Field, value: unknown): Entered {
  switch (field.kind) {
    case 'fields': {
      const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
      return Object.fromEntries(
        field.fields.map((each) => [each.name, enteredFrom(each.field, given[each.name] ?? each.initial)]),
      )
    }
    case 'choice': {
      const index = field.values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value))
      return index < 0 ? '' : String(index)
    }
    case 'text':
      return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
    case 'number':
    case 'boolean':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2)
  }
}

export type Read = { ok: true; value: unknown } | { ok: false; message: string; at: string }

/** The value of a form. `at` names the invalid field; '' for a single one. */
export function readEntered(field: Field, entered: Entered, at = ''): Read {
  const text = typeof entered === 'string' ? entered : ''
  const wrong = (message: string): Read => ({ ok: false, message, at })
  switch (field.kind) {
    case 'text':
      return { ok: true, value: text }
    case 'number': {
      const value = Number(text)
      if (text.trim() === '' || !Number.isFinite(value)) return wrong('Enter a number.')
      if (field.whole && !Number.isInteger(value)) return wrong('Enter a whole number.')
      if (field.min !== null && value < field.min) return wrong(`At least ${field.min}.`)
      if (field.max !== null && value > field.max) return wrong(`At most ${field.max}.`)
      return { ok: true, value }
    }
    case 'boolean':
      return text === 'true' || text === 'false' ? { ok: true, value: text === 'true' } : wrong('Choose yes or no.')
    case 'choice': {
      const value = field.values[Number(text)]
      return text === '' || value === undefined ? wrong('Choose one.') : { ok: true, value }
    }
    case 'json':
      return readJson(text, at)
    case 'fields':
      return readFields(field, typeof entered === 'string' ? {} : entered)
  }
}

/** Parses JSON that a person entered. */
export function readJson(text: string, at = ''): Read {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return {
      ok: false,
      message: `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      at,
    }
  }
}

function readFields(field: Extract<Field, { kind: 'fields' }>, entered: Record<string, Entered>): Read {
  const value: Record<string, unknown> = {}
  for (const { name, required, field: each } of field.fields) {
    const given = entered[name] ?? ''
    // Empty optional fields are omitted; an empty required field is an empty text.
    if (given === '' && !required) continue
    const read = readEntered(each, given, name)
    if (!read.ok) return read
    value[name] = read.value
  }
  return { ok: true, value }
}
