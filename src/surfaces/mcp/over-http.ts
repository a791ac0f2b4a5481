// The protocol over HTTP: as one function from requests to responses, for whatever server there is, and as a server of its own over
// node:http. Both eras of the protocol come in here; neither has connections, so each request is served by itself and agents are known
// by the name that they send.
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { parse } from '../../parse.ts'
import { largestBody, readJsonBody } from '../web/body.ts'
import { bearsToken, hostsAt, isJsonType, refusedAtDoor, requireGuard } from '../web/door.ts'
import { listen, toNodeListener } from '../web/node-server.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'
import {
  agentNameSchema,
  type CheckedFetchOptions,
  fetchOptionsSchema,
  httpOptionsSchema,
  type McpFetchOptions,
  type McpHttpOptions,
  type ServedEngine,
} from './mcp-options.ts'
import { McpService } from './mcp-service.ts'

/** Answers requests; `close` ends the sessions of all agents, and what is under way. Tasks go on. */
export interface McpFetchHandler {
  (request: Request): Promise<Response>
  close(): Promise<void>
}

/**
 * The abilities of an engine as a Streamable HTTP endpoint, for any server that speaks `Request` and `Response`. The server in
 * front of it must pass on the `Host` header, and the abort of a request whose client is gone.
 *
 * @example
 * const handler = mcpFetchHandler(engine, { token: process.env.ERRAND_TOKEN, allowedHosts: ['tasks.example.org'] })
 * export default { fetch: handler }
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. The first request rejects with NOT_OFFERED when the package of the protocol
 *   is not installed.
 */
export function mcpFetchHandler(engine: ServedEngine, options: McpFetchOptions): McpFetchHandler {
  return createFetchHandler(engine, parse(fetchOptionsSchema, options, 'mcpFetchHandler'))
}

function createFetchHandler(engine: ServedEngine, options: CheckedFetchOptions): McpFetchHandler {
  const service = new McpService(engine, options)
  const begin = async () => {
    const sdk = await loadSdk()
    const handler = handlerOf(sdk, service, options)
    const listenNoMore = service.onToolsChanged(() => handler.notify.toolsChanged())
    return { handler, listenNoMore }
  }
  let serving: ReturnType<typeof begin> | undefined
  const fetch = async (request: Request): Promise<Response> => {
    const refused = refusedAtTheDoor(request, options)
    if (refused !== undefined) return refused
    serving ??= begin()
    const { handler } = await serving
    if (request.method !== 'POST') return handler.fetch(request)
    const body = await readJsonBody(request)
    if ('json' in body) return handler.fetch(request, { parsedBody: body.json })
    return refusal(body.refused, body.why, {}, body.refused === 400 ? -32_700 : undefined)
  }
  return Object.assign(fetch, {
    async close() {
      const begun = await serving?.catch(() => undefined)
      begun?.listenNoMore()
      await begun?.handler.close()
      await service.sessions.close()
    },
  })
}

function handlerOf(sdk: Sdk, service: McpService, options: CheckedFetchOptions): McpHttpHandler {
  return sdk.createMcpHandler(
    ({ era, requestInfo }) => {
      const agent = requestInfo?.headers.get(agentHeader) ?? options.as
      return service.createServer(sdk, { agent, era, reachable: era === 'modern' })
    },
    { onerror: options.onError, maxRequestBodySize: largestBody },
  )
}

// ── as a server of its own ──

export interface McpHttpServer {
  /** Where clients connect to. */
  readonly url: string
  /** Ends what is under way, and all sessions. Tasks go on; the engine stays open. */
  close(): Promise<void>
}

const endpoint = '/mcp'

/**
 * Serves the abilities of an engine over HTTP, at `/mcp`. Resolves when it listens.
 *
 * @example
 * const server = await serveMcpHttp(engine, { token: process.env.ERRAND_TOKEN })
 * console.log(server.url) // http://127.0.0.1:41873/mcp
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED when the package of the protocol is not installed; FORBIDDEN for
 *   an address that others can reach, without a token. What the system says of an address that it does not give.
 */
export async function serveMcpHttp(engine: ServedEngine, options: McpHttpOptions): Promise<McpHttpServer> {
  const { host, port: wantedPort, ...checked } = parse(httpOptionsSchema, options, 'serveMcpHttp')
  requireGuard(host, checked.token, 'call')
  await loadSdk()
  let handler: McpFetchHandler | undefined
  const server = await listen({
    host,
    port: wantedPort,
    listener: ({ port }) => {
      const settings: CheckedFetchOptions = { ...checked, allowedHosts: checked.allowedHosts ?? hostsAt(host, port) }
      const serving = createFetchHandler(engine, settings)
      handler = serving
      return toNodeListener((request) => answer(request, serving, settings), checked.onError)
    },
  })
  return {
    url: `${server.url}${endpoint}`,
    close: () => server.close(async () => handler?.close()),
  }
}

/** Whoever may not come in does not hear what there is. */
async function answer(request: Request, handler: McpFetchHandler, options: CheckedFetchOptions): Promise<Response> {
  if (new URL(request.url).pathname === endpoint) return handler(request)
  return refusedAtTheDoor(request, options) ?? refusal(404, `The endpoint is ${endpoint}.`)
}

// ── the door: what is asked beyond the door of every surface, and refusals in the words of the protocol ──

const agentHeader = 'x-errand-agent'

function refusal(status: number, message: string, headers: Record<string, string> = {}, code = -32_000): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}

/** Why a request is not let in; undefined for one that is. Nothing of it has been read but its headers. */
function refusedAtTheDoor(request: Request, options: CheckedFetchOptions): Response | undefined {
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
