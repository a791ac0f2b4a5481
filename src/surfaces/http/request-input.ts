// Builds the input of an ability from the path, query, body and preconditions of a request. Only what the ability's schema cannot check
// is validated here.
import { hasField, type JsonSchema, propertiesOf } from '../../bus/json-schema.ts'
import { codeOfRefusedBody, readJsonBody, unreadable } from '../web/body.ts'
import { Refusal, refusedHeader } from '../web/problem.ts'
import { isJsonType } from '../web/request-guard.ts'
import type { ServedRequest } from '../web/served-request.ts'

type RequestHeaders = ServedRequest['headers']

/** The parsed body of a request, which may have none. @throws Refusal 400, 413, 415 */
export async function bodyOf(request: ServedRequest, limitBytes: number): Promise<unknown> {
  const contentType = request.headers.get('content-type')
  if (contentType !== null && !isJsonType(contentType)) throw unsupported()
  const length = request.headers.get('content-length')
  if (!request.hasBody || length === '0') return {}
  // A request without a body needs no content type, but whether it has a body may only be known after reading.
  if (contentType === null) {
    if (length !== null || !(await isEmpty(request))) throw unsupported()
    return {}
  }
  const body = await readJsonBody(request, limitBytes)
  if ('json' in body) return body.json
  throw new Refusal(codeOfRefusedBody(body), body.why, body.refused === 413 ? { details: { limitBytes } } : {})
}

/** Refuses a body that would be ignored, since it may contain a precondition. @throws Refusal 400 */
export async function refuseBody(request: ServedRequest): Promise<void> {
  if (await isEmpty(request)) return
  throw new Refusal('INVALID_INPUT', `A ${request.method} request has no body: send its fields in the query.`)
}

async function isEmpty(request: ServedRequest): Promise<boolean> {
  try {
    return !request.hasBody || (await request.bytes(0)) !== undefined
  } catch (error) {
    throw new Refusal('INVALID_INPUT', unreadable(error))
  }
}

function unsupported(): Refusal {
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON with the content type application/json.')
}

/** Parses the fields of a query or a path by the ability's schema. A name may be given several times. */
export function fieldsOf(given: Iterable<[string, string]>, schema: JsonSchema): Record<string, unknown> {
  const texts = new Map<string, string[]>()
  for (const [name, text] of given) {
    const earlier = texts.get(name)
    if (earlier === undefined) texts.set(name, [text])
    else earlier.push(text)
  }
  return Object.fromEntries(
    Array.from(texts, ([name, all]) => [name, fieldValue(all, fieldSchema(schema, name), schema)]),
  )
}

/**
 * Merges fields from the path or a header into the input. @param source names where they come from. A field given in both must be equal.
 * @throws Refusal 400
 */
export function withFields(
  given: unknown,
  fields: Readonly<Record<string, unknown>>,
  source: 'the path' | 'the header If-Match',
): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Refusal('INVALID_INPUT', 'The body must be a JSON object.')
  }
  const rest = Object.entries(given).filter(([key, value]) => {
    const name = camelCase(key)
    if (!Object.hasOwn(fields, name)) return true
    if (value === fields[name]) return false
    throw new Refusal('INVALID_INPUT', `\`${key}\` differs from the value in ${source}. Omit \`${key}\`.`, {
      details: { issues: [{ path: key, message: `it differs from ${source}` }] },
    })
  })
  return { ...Object.fromEntries(rest), ...fields }
}

/** The version of `If-Match`; undefined if it is absent or `*`. @throws Refusal 400 */
function expectedVersionOf(headers: RequestHeaders): number | undefined {
  const given = headers.get('if-match')?.trim()
  if (given === undefined || given === '*') return undefined
  const version = /^"(\d{1,15})"$/.exec(given)?.[1]
  if (version !== undefined) return Number(version)
  throw refusedHeader('if-match', 'The header If-Match must contain one version in quotes, like the ETag "3".')
}

/** Adds the version of `If-Match` to the input. @throws Refusal 400 if the ability has no versions. */
export function withVersion<I>(input: I, headers: RequestHeaders, schema: JsonSchema): I | Record<string, unknown> {
  const version = expectedVersionOf(headers)
  if (version === undefined) return input
  if (!hasField(schema, 'expectedVersion')) {
    throw refusedHeader('if-match', 'This route does not support If-Match.')
  }
  return withFields(input, { expectedVersion: version }, 'the header If-Match')
}

const keyPattern = /^[\x20-\x7e]{1,200}$/

/** Refuses query parameters where the fields are read from the body, since they would be ignored. */
export function refuseQuery(query: URLSearchParams): void {
  const [name] = query.keys()
  if (name === undefined) return
  throw new Refusal('INVALID_INPUT', `The parameter "${name}" must be a field of the body.`, {
    details: { issues: [{ path: name, message: 'given in the query' }] },
  })
}

/** The last event that a reconnecting client received. @throws Refusal 400 */
export function lastEventIdOf(headers: RequestHeaders): number | undefined {
  const given = headers.get('last-event-id')
  if (given === null || given === '') return undefined
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw refusedHeader(
    'last-event-id',
    'The header Last-Event-ID must contain the id of an event of this stream, which is a number.',
  )
}

/** The value of `Idempotency-Key`. @throws Refusal 400 */
export function idempotencyKeyOf(headers: RequestHeaders): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (keyPattern.test(key)) return key
  throw refusedHeader('idempotency-key', 'The header Idempotency-Key must contain 1 to 200 printable characters.')
}

// ── Converts texts of a path or query to the types of an ability's schema ──
// The schema decides whether `3` is a number. A text that fits no type is passed on unchanged, so that the schema refuses it by name.

type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** The schema of a field, in either spelling of its name. */
function fieldSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const field = [name, camelCase(name)].find((each) => hasField(schema, each))
  return field === undefined ? undefined : propertiesOf(schema)[field]
}

/** Converts all texts given for a field to its value. A list may be one comma-separated text. */
function fieldValue(texts: readonly string[], schema: JsonSchema | undefined, root: JsonSchema): unknown {
  const forms = schema === undefined ? [{}] : formsOf(schema, root)
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

/** Converts one text to a type other than a list; undefined if none fits. */
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

/** The types of the fields of schemas, which are the same for every request. */
const knownForms = new WeakMap<JsonSchema, readonly JsonSchema[]>()

function formsOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const known = knownForms.get(schema)
  if (known !== undefined) return known
  const forms = findForms(schema, root)
  knownForms.set(schema, forms)
  return forms
}

/** All types that a value may have. Specific ones come first: `null` and numbers before strings. */
function findForms(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema[] {
  if (depth > 8) return []
  const { $ref, anyOf, oneOf, type } = schema as {
    $ref?: string
    anyOf?: JsonSchema[]
    oneOf?: JsonSchema[]
    type?: unknown
  }
  if ($ref !== undefined) return findForms(defined($ref, root), root, depth + 1)
  const branches = anyOf ?? oneOf
  if (branches !== undefined) return inOrder(branches.flatMap((each) => findForms(each, root, depth + 1)))
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
