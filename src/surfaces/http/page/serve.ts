// Serves the routes of an engine and its page on a server of their own over node:http.
import { z } from 'zod'
import { parse } from '../../../core/parse.ts'
import { listen, nodeListener, type ServeFunction } from '../../web/node-server.ts'
import {
  hostsAt,
  type ListenAddressOptions,
  listenAddressShape,
  makeToken,
  requireGuard,
} from '../../web/request-guard.ts'
import { EngineSource, type TenantEngines } from '../../web/tenants.ts'
import { credentialsOf } from '../create-http.ts'
import { type HttpEngine, type HttpOptions, httpOptionsSchema } from '../http-options.ts'
import { HttpService } from '../http-service.ts'
import { readPage } from './page-files.ts'
import { withPage } from './with-page.ts'

export interface ServeOptions extends Omit<HttpOptions, 'basePath' | 'page'>, ListenAddressOptions {
  /** Serves the page at `/`. Default true. */
  page?: boolean
  /**
   * Maximum number of open connections. Beyond it, an idle connection is closed for a new one; if there is none, the new connection is
   * closed. Default 1,024.
   */
  maxConnections?: number
  /** The same limit per address. Default 512. Behind a proxy all clients share its address: allow as many connections as it opens. */
  maxConnectionsPerAddress?: number
}

const { basePath: _basePath, page: _page, ...httpShape } = httpOptionsSchema.shape

/** The options of the routes are validated by `createHttp`. */
const routeOptionsShape = Object.fromEntries(Object.keys(httpShape).map((name) => [name, z.unknown().optional()]))

export const serveOptionsSchema = z.strictObject({
  ...routeOptionsShape,
  ...listenAddressShape,
  page: z.boolean().default(true),
  maxConnections: z.int().min(1).optional(),
  maxConnectionsPerAddress: z.int().min(1).optional(),
})

export interface ErrandServer {
  /** Base URL of the routes and the page: `http://127.0.0.1:4711`. */
  readonly url: string
  /** The token that clients send as `Authorization: Bearer …`; undefined with `authenticate` or without credentials. */
  readonly token: string | undefined
  /** Ends all streams, accepts no more requests, and waits up to two seconds for responses in progress. The engine stays open. */
  close(): Promise<void>
}

/**
 * Serves an engine over HTTP: the routes of `createHttp`, and at `/` a page to watch and control it. Without `token` and
 * `authenticate` a token is generated and returned. Resolves when the server listens.
 *
 * @example
 * const server = await serve(engine, { port: 4711 })
 * console.log(`${server.url}/#token=${server.token}`)
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; FORBIDDEN for an address other than loopback with `token: false`. The system's
 *   error for an address that is not available.
 */
export async function serve(
  engine: HttpEngine | TenantEngines<HttpEngine>,
  options: ServeOptions = {},
): Promise<ErrandServer> {
  const parsed = parse(serveOptionsSchema, options, 'serve')
  const { host, port, page, maxConnections, maxConnectionsPerAddress, ...given } = parsed
  const source = new EngineSource(engine, 'serve')
  const checked = parse(httpOptionsSchema, withToken(given as HttpOptions), 'serve')
  const credentials = credentialsOf(source, checked)
  requireGuard(host, checked.token, 'do everything')
  const files = page ? await readPage() : undefined
  const { clock, stallMs, onError, allowedOrigins } = checked
  let service: HttpService | undefined
  const server = await listen({
    host,
    port,
    limits: { connections: maxConnections, connectionsPerAddress: maxConnectionsPerAddress },
    clock,
    listener: (address) => {
      const allowedHosts = checked.allowedHosts ?? hostsAt(address.host, address.port)
      const served = new HttpService(source, { ...checked, allowedHosts }, credentials)
      service = served
      const routes: ServeFunction = (request, peer) => served.answer(request, peer)
      const guard = { allowedHosts, allowedOrigins }
      const answers = page ? withPage(routes, { checked, credentials, guard, files: () => files }) : routes
      return nodeListener(answers, onError, { stallMs, clock })
    },
  })
  return {
    url: server.url,
    token: checked.token === false ? undefined : checked.token,
    close: () => server.close(async () => service?.close()),
  }
}

function withToken(given: HttpOptions): HttpOptions {
  return given.token === undefined && given.authenticate === undefined ? { ...given, token: makeToken() } : given
}
