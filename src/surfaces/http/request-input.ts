// What a request asks of an ability: the parts of its path, its query or its body, and its preconditions, as one input. Nothing is
// judged here but what the ability cannot know of; the rest is for its own schema.
import { hasField, type JsonSchema, propertiesOf } from '../../bus/json-schema.ts'
import { readJsonBody } from '../../web/body.ts'
import { Refusal, refusedHeader } from '../../web/problem.ts'
import { isJsonType } from '../../web/request-guard.ts'

/** The body of a request, which may have none. @throws Refusal 400, 413, 415 */
export async function bodyOf(request: Request, limitBytes: number): Promise<unknown> {
  const contentType = request.headers.get('content-type')
  if (contentType !== null && !isJsonType(contentType)) throw unsupported()
  const length = request.headers.get('content-length')
  if (request.body === null || length === '0') return {}
  // A client that sends no body need not say of which kind it is; whether it sends one may show only now.
  if (contentType === null) {
    if (length !== null || !(await isEmpty(request))) throw unsupported()
    return {}
  }
  const body = await readJsonBody(request, limitBytes)
  if ('json' in body) return body.json
  if (body.refused === 400) throw new Refusal('INVALID_INPUT', body.why)
  throw new Refusal('BODY_TOO_LARGE', body.why, { details: { limitBytes } })
}

/** What would stand in a body that nobody reads would be lost: a precondition, perhaps. @throws Refusal 400 */
export async function refuseBody(request: Request): Promise<void> {
  if (await isEmpty(request)) return
  throw new Refusal('INVALID_INPUT', `A ${request.method} takes its fields from the query, and no body.`)
}

async function isEmpty(request: Request): Promise<boolean> {
  try {
    // Leaving early cancels what would still come.
    for await (const chunk of request.body ?? []) if (chunk.byteLength > 0) return false
    return true
  } catch {
    throw new Refusal('INVALID_INPUT', 'The body could not be read.')
  }
}

function unsupported(): Refusal {
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, and its content-type application/json.')
}

/** The fields in the query of a request, or in its path, as the ability's schema reads them. */
export function fieldsOf(given: URLSearchParams, schema: JsonSchema): Record<string, unknown> {
  const names = [...new Set(given.keys())]
  return Object.fromEntries(
    names.map((name) => [name, fieldValue(given.getAll(name), fieldSchema(schema, name), schema)]),
  )
}

/**
 * What was given, with the fields that stand elsewhere too: `place` says where. Given in both, they must say the same.
 * @throws Refusal 400
 */
export function withFields(
  given: unknown,
  fields: Readonly<Record<string, unknown>>,
  place: 'the path' | 'the header If-Match',
): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Refusal('INVALID_INPUT', 'The body must be a JSON object.')
  }
  const rest = Object.entries(given).filter(([key, value]) => {
    const name = camelCase(key)
    if (!Object.hasOwn(fields, name)) return true
    if (value === fields[name]) return false
    throw new Refusal(
      'INVALID_INPUT',
      `\`${key}\` says something else than ${place}, which says it already. Leave \`${key}\` out.`,
      { details: { issues: [{ path: key, message: `it differs from ${place}` }] } },
    )
  })
  return { ...Object.fromEntries(rest), ...fields }
}

/** The version that `If-Match` asks for; undefined for none, and for `*`. @throws Refusal 400 */
function expectedVersionOf(headers: Headers): number | undefined {
  const given = headers.get('if-match')?.trim()
  if (given === undefined || given === '*') return undefined
  const version = /^"(\d{1,15})"$/.exec(given)?.[1]
  if (version !== undefined) return Number(version)
  throw refusedHeader('if-match', 'The header If-Match must hold one version in quotes, as an ETag gave it: "3".')
}

/** The input with the version of `If-Match` in it. @throws Refusal 400 where the ability judges no versions. */
export function withVersion<I>(input: I, headers: Headers, schema: JsonSchema): I | Record<string, unknown> {
  const version = expectedVersionOf(headers)
  if (version === undefined) return input
  if (!hasField(schema, 'expectedVersion')) {
    throw refusedHeader('if-match', 'Nothing here has versions: If-Match could not be kept.')
  }
  return withFields(input, { expectedVersion: version }, 'the header If-Match')
}

const keyPattern = /^[\x20-\x7e]{1,200}$/

/** The key under which a request is answered once. @throws Refusal 400 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (keyPattern.test(key)) return key
  throw refusedHeader('idempotency-key', 'The header Idempotency-Key must hold 1 to 200 printable characters.')
}

// ── Texts of a path or a query as the values that an ability takes ──
// Its own schema says whether `3` is a number. What fits nowhere stays the text that it is, and the schema refuses it by its name.

type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** What a field's schema says, looked up under either spelling of its name. */
function fieldSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const field = [name, camelCase(name)].find((each) => hasField(schema, each))
  return field === undefined ? undefined : propertiesOf(schema)[field]
}

/** The value of a field out of all texts that were given for it. Texts of one list may stand in one, with commas between. */
function fieldValue(texts: readonly string[], schema: JsonSchema | undefined, root: JsonSchema): unknown {
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

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
