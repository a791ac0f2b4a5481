// The routes of an engine and the page that shows them, as a server of their own over node:http.
import { z } from 'zod'
import { parse } from '../../../core/parse.ts'
import type { Credentials } from '../../../web/credentials.ts'
import { type FetchFunction, listen, type Peer, toNodeListener } from '../../../web/node-server.ts'
import { unauthenticated } from '../../../web/problem.ts'
import {
  hostsAt,
  type ListenAddressOptions,
  listenAddressShape,
  makeToken,
  requireGuard,
} from '../../../web/request-guard.ts'
import { EngineSource, type TenantEngines } from '../../../web/tenants.ts'
import { createHandler, credentialsOf, type TenantHttpHandler } from '../create-http.ts'
import { type CheckedHttpOptions, type HttpEngine, type HttpOptions, httpOptionsSchema } from '../http-options.ts'
import { loadHono } from '../load-hono.ts'
import { readPage } from './page-files.ts'
import { createPageSession } from './page-session.ts'
import { createSite, type SiteOptions } from './site.ts'

export interface ServeOptions extends Omit<HttpOptions, 'basePath'>, ListenAddressOptions {
  /** Serves the page at `/`. Default true. */
  page?: boolean
  /**
   * Connections at once. Where there are so many, one on which no request is being answered makes way for one more; without such a one,
   * the one more is closed as it comes. Default 1,024.
   */
  maxConnections?: number
  /** The same of one address. Default 512; behind a proxy, whose address is that of all clients, as many as it opens. */
  maxConnectionsPerAddress?: number
}

const { basePath: _basePath, ...httpShape } = httpOptionsSchema.shape

/** What the routes take is judged by themselves, once it is whole. */
const ofTheRoutes = Object.fromEntries(Object.keys(httpShape).map((name) => [name, z.unknown().optional()]))

export const serveOptionsSchema = z.strictObject({
  ...ofTheRoutes,
  ...listenAddressShape,
  page: z.boolean().default(true),
  maxConnections: z.int().min(1).optional(),
  maxConnectionsPerAddress: z.int().min(1).optional(),
})

export interface ErrandServer {
  /** Where clients connect to, and where the page is: `http://127.0.0.1:4711`. */
  readonly url: string
  /** What clients must send as `Authorization: Bearer …`; undefined where `authenticate` judges, or nobody does. */
  readonly token: string | undefined
  /** Ends all streams, takes no more requests, and waits up to two seconds for the answers that are under way. The engine stays open. */
  close(): Promise<void>
}

/**
 * Serves an engine over HTTP: the routes of `createHttp`, and at `/` a page to watch and command it. Without `token` and
 * `authenticate` a token is made, and stands in what this resolves to. Resolves when it listens.
 *
 * @example
 * const server = await serve(engine, { port: 4711 })
 * console.log(`${server.url}/#token=${server.token}`)
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT; NOT_OFFERED where the package hono is not installed; FORBIDDEN for an address that others can reach, with `token: false`. What the
 *   system says of an address that it does not give.
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
  await loadHono()
  const files = page ? await readPage() : undefined
  const { clock, stallMs, onError, allowedOrigins } = checked
  let routes: TenantHttpHandler | undefined
  const server = await listen({
    host,
    port,
    limits: { connections: maxConnections, connectionsPerAddress: maxConnectionsPerAddress },
    clock,
    listener: (place) => {
      const allowedHosts = checked.allowedHosts ?? hostsAt(place.host, place.port)
      routes = createHandler(source, { ...checked, allowedHosts }, credentials)
      const door = { allowedHosts, allowedOrigins }
      const fetch = page ? siteOf(checked, credentials, place.port, { door, page: files, routes }) : routes
      return toNodeListener(fetch, onError, { stallMs, clock })
    },
  })
  return {
    url: server.url,
    token: checked.token === false ? undefined : checked.token,
    close: () => server.close(async () => routes?.close()),
  }
}

function withToken(given: HttpOptions): HttpOptions {
  return given.token === undefined && given.authenticate === undefined ? { ...given, token: makeToken() } : given
}

function siteOf(
  checked: CheckedHttpOptions,
  credentials: Credentials,
  port: number,
  parts: Pick<SiteOptions, 'door' | 'page' | 'routes'>,
): FetchFunction {
  const { token, onError } = checked
  return createSite({
    ...parts,
    admits: (request, peer) => brings(request, peer, credentials),
    // Where nothing is given that outlasts the process, a cookie does not, either.
    session: createPageSession(typeof token === 'string' ? token : makeToken(), port),
    readable: ['/docs', '/openapi.json'],
    vouchFor: (request) => (typeof token === 'string' ? withBearer(request, token) : undefined),
    onError,
  })
}

/**
 * Whether a request itself brings credentials that are known.
 * @throws Refusal 429 for wrong ones too often; what `authenticate` throws.
 */
async function brings(request: Request, { address }: Peer, credentials: Credentials): Promise<boolean> {
  const judged = await credentials.judge(request, address)
  if (judged.principal === null && judged.waitSeconds > 0) throw unauthenticated(judged.waitSeconds)
  return judged.principal !== null
}

function withBearer(request: Request, token: string): Request {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  return new Request(request, { headers })
}
