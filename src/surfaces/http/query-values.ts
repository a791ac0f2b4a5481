// Texts of a path or a query as the values that an ability takes: its own schema says whether `3` is a number. What fits nowhere
// stays the text that it is, and the ability's schema refuses it by its name.
import type { JsonSchema } from '../../bus/json-schema.ts'

type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** What a field's schema says, looked up under either spelling of its name. */
export function fieldSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  return [name, camelCase(name)]
    .map((each) => (Object.hasOwn(properties, each) ? properties[each] : undefined))
    .find((each) => each !== undefined)
}

/** The value of a field out of all texts that were given for it. Texts of one list may stand in one, with commas between. */
export function fieldValue(texts: readonly string[], schema: JsonSchema | undefined, root: JsonSchema): unknown {
  const forms = formsOf(schema ?? {}, root)
  const [text = ''] = texts
  if (texts.length === 1) {
    const single = singleValue(text, forms)
    if (single !== undefined) return single
  }
  const list = forms.find((form) => form['type'] === 'array')
  if (list === undefined) return texts.length === 1 ? text : texts
  const items = (list['items'] ?? {}) as JsonSchema
  return texts.flatMap((each) => each.split(',')).map((each) => fieldValue([each.trim()], items, root))
}

/** The value of one text under forms that are no lists; undefined where none fits. */
function singleValue(text: string, forms: readonly JsonSchema[]): unknown {
  for (const form of forms) {
    const value = valueAs(text, form)
    if (value !== undefined) return value
  }
  return undefined
}

function valueAs(text: string, form: JsonSchema): unknown {
  const allowed = (form['enum'] ?? ('const' in form ? [form['const']] : undefined)) as unknown[] | undefined
  switch (form['type'] as Kind | undefined) {
    case 'number':
    case 'integer':
      return /^-?\d{1,16}(?:\.\d{1,16})?$/.test(text) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'null':
      return text === 'null' ? null : undefined
    case 'string':
      return allowed === undefined || allowed.includes(text) ? text : undefined
    case 'array':
    case 'object':
    case undefined:
      return undefined
  }
}

/** All forms that a value may have, those first whose texts say what they are: `null` and `3` before any text. */
function formsOf(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema[] {
  if (depth > 8) return []
  const { $ref, anyOf, oneOf, type } = schema as {
    $ref?: string
    anyOf?: JsonSchema[]
    oneOf?: JsonSchema[]
    type?: unknown
  }
  if ($ref !== undefined) return formsOf(defined($ref, root), root, depth + 1)
  const branches = anyOf ?? oneOf
  if (branches !== undefined) return inOrder(branches.flatMap((each) => formsOf(each, root, depth + 1)))
  if (Array.isArray(type)) return inOrder(type.map((each: unknown) => ({ ...schema, type: each })))
  return [schema]
}

const order: ReadonlyArray<unknown> = ['null', 'boolean', 'integer', 'number', 'string']

function inOrder(forms: JsonSchema[]): JsonSchema[] {
  const rank = ({ type }: JsonSchema): number => (order.includes(type) ? order.indexOf(type) : order.length)
  return forms.sort((a, b) => rank(a) - rank(b))
}

function defined(reference: string, root: JsonSchema): JsonSchema {
  const name = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1]
  const definitions = (root['$defs'] ?? {}) as Record<string, JsonSchema>
  return name !== undefined && Object.hasOwn(definitions, name) ? (definitions[name] as JsonSchema) : {}
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
