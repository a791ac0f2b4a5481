// The protocol over HTTP: as one function from requests to responses, for whatever server there is, and as a server of its own over
// node:http. Both eras of the protocol come in here; neither has connections, so each request is served by itself and agents are known
// by the name that they send, or that their credentials give them.
import { parse } from '../../core/parse.ts'
import { addressOf } from '../../web/node-listener.ts'
import { listen, type Peer, toNodeListener } from '../../web/node-server.ts'
import { hostsAt, requireGuard } from '../../web/request-guard.ts'
import { EngineSource, type TenantEngines } from '../../web/tenants.ts'
import { Endpoint } from './endpoint.ts'
import { loadSdk } from './load-sdk.ts'
import {
  fetchOptionsSchema,
  httpOptionsSchema,
  type McpFetchOptions,
  type McpHttpOptions,
  type ServedEngine,
} from './mcp-options.ts'

/** Answers requests; `close` ends the sessions of all agents, and what is under way. Tasks go on, and engines stay open. */
export interface McpFetchHandler {
  (request: Request, peer?: Peer): Promise<Response>
  close(): Promise<void>
}

/**
 * The abilities of an engine as a Streamable HTTP endpoint, for any server that speaks `Request` and `Response`. The server in
 * front of it must pass on the `Host` header, and the abort of a request whose client is gone. Where tenants have engines of their own,
 * `engineFor` gives the engine of a tenant, and `authenticate` the `tenant` of whoever asks.
 *
 * @example
 * const handler = mcpFetchHandler(engine, { token: process.env.ERRAND_TOKEN, allowedHosts: ['tasks.example.org'] })
 * export default { fetch: handler }
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. The first request rejects with NOT_OFFERED when the package of the protocol
 *   is not installed.
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
  /** Where clients connect to. */
  readonly url: string
  /** Ends what is under way, and all sessions. Tasks go on; the engine stays open. */
  close(): Promise<void>
}

const path = '/mcp'

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
export async function serveMcpHttp(
  engine: ServedEngine | TenantEngines<ServedEngine>,
  options: McpHttpOptions,
): Promise<McpHttpServer> {
  const { host, port: wantedPort, ...checked } = parse(httpOptionsSchema, options, 'serveMcpHttp')
  const source = new EngineSource(engine, 'serveMcpHttp')
  requireGuard(host, checked.token, 'call')
  await loadSdk()
  let endpoint: Endpoint | undefined
  const server = await listen({
    host,
    port: wantedPort,
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
