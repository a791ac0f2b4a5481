// The door of the protocol over HTTP: what it asks beyond the door of every surface, and its refusals in the words of the protocol.

import { readJsonBody } from '../web/body.ts'
import { bearsToken, isJsonType, refusedAtDoor } from '../web/door.ts'
import { agentNameSchema, type CheckedFetchOptions } from './mcp-options.ts'

export const agentHeader = 'x-errand-agent'

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
export function refusedAtTheDoor(request: Request, options: DoorOptions): Response | undefined {
  const refused = refusedAtDoor(request, options)
  if (refused !== undefined) return refusal(refused.status, refused.why)
  if (options.token !== false && !bearsToken(request, options.token)) {
    return refusal(401, 'A bearer token is needed.', { 'www-authenticate': 'Bearer realm="errand"' })
  }
  if (request.method === 'POST' && !isJsonType(request.headers.get('content-type'))) {
    return refusal(415, 'The content type must be application/json.')
  }
  const agent = request.headers.get(agentHeader)
  if (agent !== null && !agentNameSchema.safeParse(agent).success) {
    return refusal(400, `The header ${agentHeader} must be a name of at most 100 letters, digits and . _ @ : / -`)
  }
  return undefined
}

/** The JSON of a request's body, or why it is not taken. */
export async function readBody(request: Request): Promise<{ json: unknown } | { refused: Response }> {
  const body = await readJsonBody(request)
  if ('json' in body) return body
  return { refused: refusal(body.refused, body.why, {}, body.refused === 400 ? -32_700 : undefined) }
}
