// Serves the abilities of an engine over HTTP, as one function from requests to responses. Requests are validated in a fixed order
// before the body is read: host and origin, credentials, rate limit, route.
import { once } from '../../core/once.ts'
import { parse } from '../../core/parse.ts'
import type { TaskRef } from '../../entities/views.ts'
import { toResponse } from '../web/answer.ts'
import { Credentials } from '../web/credentials.ts'
import { isServedBy, type Peer, type ServeFunction } from '../web/node-listener.ts'
import { FetchedRequest } from '../web/served-request.ts'
import { type TaskTokenOptions, TaskTokens } from '../web/task-tokens.ts'
import { EngineSource, type TenantEngines } from '../web/tenants.ts'
import { type CheckedHttpOptions, type HttpEngine, type HttpOptions, httpOptionsSchema } from './http-options.ts'
import { HttpService } from './http-service.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { readPage } from './page/page-files.ts'
import { withPage } from './page/with-page.ts'

/** Answers requests and never rejects. */
export interface TenantHttpHandler {
  (request: Request, peer?: Peer): Promise<Response>
  /** The same function, for servers that expect an object. */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /**
   * A signed token with which a client reaches this task and the tasks below it, and nothing else, until it expires. It is sent as
   * `Authorization: Bearer …`, or with `GET` as the parameter `access_token`. It is not stored, and cannot be withdrawn.
   * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION
   */
  token(task: TaskRef, options?: TaskTokenOptions): string
  /** Ends all streams and answers further requests with 503. Tasks continue, and engines stay open. */
  close(): Promise<void>
}

/** The handler of a single engine. */
export interface HttpHandler extends TenantHttpHandler {
  /** The OpenAPI 3.1 document of the abilities that are registered now. */
  openapi(): OpenApiDocument
}

/**
 * Serves the abilities of an engine as routes over HTTP, for any server with `Request` and `Response`. A server in front must
 * pass on the `Host` header and abort the request when its client disconnects.
 *
 * All principals share the engine's ledger and see each other's tasks, unless they have the scope `own`. To separate tenants, give each an engine with its own ledger:
 * `authenticate` returns the `tenant` of a principal, and `engineFor` the engine of a tenant. The program opens and closes these
 * engines.
 *
 * @example
 * const http = createHttp(engine, { token: process.env.ERRAND_TOKEN, basePath: '/errand' })
 * app.mount('/errand', http.fetch) // Hono; for node:http and Fastify: toNodeListener(http.fetch, console.error)
 *
 * With `page: true` the page is served beside the routes, for those who have credentials.
 *
 * @example
 * const http = createHttp({ engineFor: (tenant) => engines.get(tenant) }, { authenticate })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function createHttp(engine: HttpEngine, options: HttpOptions): HttpHandler
export function createHttp(engines: TenantEngines<HttpEngine>, options: HttpOptions): TenantHttpHandler
export function createHttp(engines: HttpEngine | TenantEngines<HttpEngine>, options: HttpOptions): TenantHttpHandler {
  const source = new EngineSource(engines, 'createHttp')
  const checked = parse(httpOptionsSchema, options, 'createHttp')
  const { hasTenants } = source
  const taskTokens = new TaskTokens({ secret: checked.tokenSecret, clock: checked.clock, hasTenants })
  const credentials = credentialsOf(source, checked, taskTokens)
  const service = new HttpService(source, checked, credentials)
  const routes: ServeFunction = (request, peer) => service.answer(request, peer)
  const answer = checked.page ? besidePage(service, routes, checked, credentials) : routes
  const fetch = async (request: Request, peer: Peer = {}): Promise<Response> =>
    toResponse(await answer(new FetchedRequest(request), peer))
  isServedBy(fetch, answer)
  const handler = Object.assign(fetch, { fetch, token: taskTokens.sign, close: async () => service.close() })
  if ('engineFor' in engines) return handler
  return Object.assign(handler, {
    openapi: () => openApiDocument(engines.bus.abilities(), { basePath: checked.basePath, takesWebhooks: true }),
  })
}

/** A handler that is closed answers everything with 503, the page too. */
function besidePage(
  service: HttpService,
  routes: ServeFunction,
  checked: CheckedHttpOptions,
  credentials: Credentials,
): ServeFunction {
  const files = once(() =>
    readPage(checked.basePath).catch((error: unknown) => {
      checked.onError(error)
      return undefined
    }),
  )
  const site = withPage(routes, { checked, credentials, guard: checked, files })
  return (request, peer) => (service.isClosed ? routes : site)(request, peer)
}

/** Creates the check of credentials, which other handlers beside the routes share. @throws ErrandError INVALID_INPUT */
export function credentialsOf(
  { hasTenants }: EngineSource<HttpEngine>,
  { authenticate, token, clock }: CheckedHttpOptions,
  taskTokens?: TaskTokens,
): Credentials {
  return new Credentials({ authenticate, token, clock, hasTenants, taskTokens })
}
