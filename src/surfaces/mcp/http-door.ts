// The door of the protocol over HTTP: who may come in, judged before anything of the request is read. A browser that was led
// astray knows no token, but it is turned away at its host and origin before it could try one.
import { hash, timingSafeEqual } from 'node:crypto'
import { deepestJson } from '../../json.ts'
import type { Sdk } from './load-sdk.ts'
import { agentNameSchema, type CheckedFetchOptions } from './mcp-options.ts'

export const agentHeader = 'x-errand-agent'
/** Largest body, in bytes. */
export const largestBody = 1024 * 1024

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']

/** The loopback names at a port. */
export function loopbackHosts(port: number): string[] {
  return loopbackNames.map((name) => `${name}:${port}`)
}

export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32_000,
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}

type DoorOptions = Pick<CheckedFetchOptions, 'token' | 'allowedHosts' | 'allowedOrigins'>

/** Why a request is not let in; undefined for one that is. Nothing of it has been read but its headers. */
export function refusedAtTheDoor(
  request: Request,
  { token, allowedHosts, allowedOrigins }: DoorOptions,
): Response | undefined {
  const host = (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
  if (!(allowedHosts === undefined ? isLoopback(host) : allowedHosts.includes(host))) {
    return refusal(403, 'This Host is not served here.')
  }
  const origin = request.headers.get('origin')
  if (origin !== null && !isOriginOf(origin, host) && !allowedOrigins.includes(origin)) {
    return refusal(403, 'This Origin is not served here.')
  }
  if (token !== false && !bears(request, token)) {
    return refusal(401, 'A bearer token is needed.', { 'www-authenticate': 'Bearer realm="errand"' })
  }
  if (request.method === 'POST' && !isJson(request.headers.get('content-type'))) {
    return refusal(415, 'The content type must be application/json.')
  }
  const agent = request.headers.get(agentHeader)
  if (agent !== null && !agentNameSchema.safeParse(agent).success) {
    return refusal(400, `The header ${agentHeader} must be a name of at most 100 letters, digits and . _ @ : / -`)
  }
  return undefined
}

/** The JSON of a request's body, or why it is not taken. */
export async function readBody(sdk: Sdk, request: Request): Promise<{ json: unknown } | { refused: Response }> {
  const body = await sdk.readRequestBody(request, largestBody).catch(() => undefined)
  if (body === undefined) return { refused: refusal(400, 'The body could not be read.', {}, -32_700) }
  if (body.tooLarge) {
    return { refused: refusal(413, `The body may have ${largestBody} bytes.`, { connection: 'close' }) }
  }
  let json: unknown
  try {
    json = JSON.parse(body.text)
  } catch {
    return { refused: refusal(400, 'The body is not JSON.', {}, -32_700) }
  }
  if (isTooDeep(json)) return { refused: refusal(400, `The body is nested deeper than ${deepestJson} levels.`) }
  return { json }
}

/** Without recursion: that is what a deep body would exhaust. */
function isTooDeep(json: unknown): boolean {
  let level: object[] = isObject(json) ? [json] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= deepestJson) return true
    level = level.flatMap((each) => Object.values(each).filter(isObject))
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isLoopback(host: string): boolean {
  return loopbackNames.includes(host.replace(/:\d{1,5}$/, ''))
}

function isOriginOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`
}

/** Compared by their hashes, which are of one length: how long it takes tells nothing of how much was right. */
function bears(request: Request, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', token, 'buffer'))
}

function isJson(contentType: string | null): boolean {
  return /^application\/json(?:\s*;\s*charset="?utf-8"?)?$/i.test(contentType?.trim() ?? '')
}
