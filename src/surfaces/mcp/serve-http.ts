// The endpoint as a server of its own, over node:http: it listens where it was told, on loopback by default, and keeps a client
// from holding it up with headers or a body that never end.
import { ErrandError } from '../../errors.ts'
import { parse } from '../../parse.ts'
import { hostsAt, isLoopbackAddress } from '../web/door.ts'
import { listen, toNodeListener } from '../web/node-server.ts'
import { createFetchHandler, type McpFetchHandler } from './fetch-handler.ts'
import { refusal, refusedAtTheDoor } from './http-door.ts'
import { loadSdk } from './load-sdk.ts'
import { type CheckedFetchOptions, httpOptionsSchema, type McpHttpOptions, type ServedEngine } from './mcp-options.ts'

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
  if (checked.token === false && !isLoopbackAddress(host)) {
    throw new ErrandError(
      'FORBIDDEN',
      `Serving at ${host} without a token would let everybody on the network call. Give a token, or serve at 127.0.0.1.`,
      { host },
    )
  }
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
