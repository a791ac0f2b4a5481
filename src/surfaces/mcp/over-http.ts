// MCP over HTTP: as a fetch handler for any server, and as a server of its own over node:http. Both protocol versions are supported.
// Neither has connections, so each request is served by itself, and agents are identified by the name that they send or that their
// credentials contain.
import { parse } from '../../core/parse.ts'
import { addressOf } from '../web/node-listener.ts'
import { listen, type Peer, toNodeListener } from '../web/node-server.ts'
import { hostsAt, requireGuard } from '../web/request-guard.ts'
import { EngineSource, type TenantEngines } from '../web/tenants.ts'
import { Endpoint } from './endpoint.ts'
import { loadSdk } from './load-sdk.ts'
import {
  fetchOptionsSchema,
  httpOptionsSchema,
  type McpFetchOptions,
  type McpHttpOptions,
  type ServedEngine,
} from './mcp-options.ts'

/** Answers requests. `close` ends the sessions of all agents and requests in progress. Tasks continue, and engines stay open. */
export interface McpFetchHandler {
  (request: Request, peer?: Peer): Promise<Response>
  close(): Promise<void>
}

/**
 * Serves the abilities of an engine as a Streamable HTTP endpoint, for any server with `Request` and `Response`. A server in front
 * must pass on the `Host` header and abort the request when its client disconnects. For tenants with engines of their own, `engineFor`
 * returns the engine of a tenant, and `authenticate` the `tenant` of a principal.
 *
 * @example
 * const handler = mcpFetchHandler(engine, { token: process.env.ERRAND_TOKEN, allowedHosts: ['tasks.example.org'] })
 * export default { fetch: handler }
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. The first request rejects with NOT_OFFERED if the MCP package is not
 *   installed.
 */
export function mcpFetchHandler(
  engine: ServedEngine | TenantEngines<ServedEngine>,
  options: McpFetchOptions,
): McpFetchHandler {
  const source = new EngineSource(engine, 'mcpFetchHandler')
  const endpoint = new Endpoint(source, parse(fetchOptionsSchema, options, 'mcpFetchHandler'))
  const fetch = (request: Request, peer?: Peer): Promise<Response> => endpoint.answer(request, addressOf(peer))
  return Object.assign(fetch, { close: () => endpoint.close() })
}

// ── as a server of its own ──

export interface McpHttpServer {
  /** URL for clients. */
  readonly url: string
  /** Ends requests in progress and all sessions. Tasks continue; the engine stays open. */
  close(): Promise<void>
}

const path = '/mcp'

/**
 * Serves the abilities of an engine over HTTP, at `/mcp`. Resolves when the server listens.
 *
 * @example
 * const server = await serveMcpHttp(engine, { token: process.env.ERRAND_TOKEN })
 * console.log(server.url) // http://127.0.0.1:41873/mcp
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED if the MCP package is not installed; FORBIDDEN for an address other
 *   than loopback without a token. The system's error for an address that is not available.
 */
export async function serveMcpHttp(
  engine: ServedEngine | TenantEngines<ServedEngine>,
  options: McpHttpOptions,
): Promise<McpHttpServer> {
  const { host, port: requestedPort, ...checked } = parse(httpOptionsSchema, options, 'serveMcpHttp')
  const source = new EngineSource(engine, 'serveMcpHttp')
  requireGuard(host, checked.token, 'call')
  await loadSdk()
  let endpoint: Endpoint | undefined
  const server = await listen({
    host,
    port: requestedPort,
    listener: ({ port }) => {
      const allowedHosts = checked.allowedHosts ?? hostsAt(host, port)
      const served = new Endpoint(source, { ...checked, allowedHosts }, path)
      endpoint = served
      return toNodeListener((request, { address }) => served.answer(request, address), checked.onError)
    },
  })
  return {
    url: `${server.url}${path}`,
    close: () => server.close(async () => endpoint?.close()),
  }
}
