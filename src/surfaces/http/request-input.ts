// What a request asks of an ability: the parts of its path, its query or its body, and its preconditions, as one input. Nothing is
// judged here but what the ability cannot know of; the rest is for its own schema.
import type { JsonSchema } from '../../bus/json-schema.ts'
import { readJsonBody } from '../web/body.ts'
import { isJsonType } from '../web/door.ts'
import { Refusal } from './problem.ts'
import { camelCase, fieldSchema, fieldValue } from './query-values.ts'

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

/** The fields in the query of a request, as the ability's schema reads them. */
export function queryInput(query: URLSearchParams, schema: JsonSchema): Record<string, unknown> {
  const names = [...new Set(query.keys())]
  return Object.fromEntries(
    names.map((name) => [name, fieldValue(query.getAll(name), fieldSchema(schema, name), schema)]),
  )
}

/** The fields in its path, read in the same way. */
export function pathInput(parameters: Readonly<Record<string, string>>, schema: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, text]) => [name, fieldValue([text], fieldSchema(schema, name), schema)]),
  )
}

/**
 * What was given beside the path, with the path's own fields. Given in both, they must say the same.
 * @throws Refusal 400
 */
export function withPath(given: unknown, fromPath: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return merged(given, fromPath, 'the path')
}

/** `place` is where the fields stand, in words. */
function merged(
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
  throw new Refusal('INVALID_INPUT', 'The header If-Match must hold one version in quotes, as an ETag gave it: "3".', {
    details: { header: 'if-match' },
  })
}

/** The input with the version of `If-Match` in it. @throws Refusal 400 where the ability judges no versions. */
export function withVersion<I>(input: I, headers: Headers, schema: JsonSchema): I | Record<string, unknown> {
  const version = expectedVersionOf(headers)
  if (version === undefined) return input
  if (fieldSchema(schema, 'expectedVersion') === undefined) {
    throw new Refusal('INVALID_INPUT', 'Nothing here has versions: If-Match could not be kept.', {
      details: { header: 'if-match' },
    })
  }
  return merged(input, { expectedVersion: version }, 'the header If-Match')
}

const keyPattern = /^[\x20-\x7e]{1,200}$/

/** The key under which a request is answered once. @throws Refusal 400 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (keyPattern.test(key)) return key
  throw new Refusal('INVALID_INPUT', 'The header Idempotency-Key must hold 1 to 200 printable characters.', {
    details: { header: 'idempotency-key' },
  })
}
