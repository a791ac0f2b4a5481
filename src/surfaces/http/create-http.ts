// An engine over HTTP, as one function from requests to responses. Each request is judged in one order: where it comes from, who
// sends it, how often, what it asks for. Only then is anything of it read, and what it asks for is an ability of the bus.
import type { Context, Hono } from 'hono'
import { keyPrefixes } from '../../abilities/task/keys.ts'
import type { Ability } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { hasField } from '../../bus/json-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { Credentials } from '../../web/credentials.ts'
import { addressOf, type Peer } from '../../web/node-listener.ts'
import { OpenLimit } from '../../web/open-limit.ts'
import { callerOf, limitKeyOf, type Principal } from '../../web/principal.ts'
import {
  methodNotAllowed,
  problemAnswer,
  problemOf,
  Refusal,
  refusedHeader,
  retryAfter,
  unauthenticated,
} from '../../web/problem.ts'
import { RateLimit } from '../../web/rate-limit.ts'
import { refuseRequest } from '../../web/request-guard.ts'
import { EngineSource, type TenantEngines, tenantNotServed } from '../../web/tenants.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import { type CheckedHttpOptions, type HttpEngine, type HttpOptions, httpOptionsSchema } from './http-options.ts'
import { fingerprintOf, KeptAnswers, otherRequest } from './idempotency.ts'
import { loadHono } from './load-hono.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { bodyOf, fieldsOf, idempotencyKeyOf, refuseBody, withFields, withVersion } from './request-input.ts'
import { type Route, routes, takesBody } from './routes.ts'
import { EventStreams } from './sse.ts'
import { shapeOf } from './stream-shapes.ts'

/** Answers requests, and never rejects. */
export interface TenantHttpHandler {
  (request: Request, peer?: Peer): Promise<Response>
  /** The same function, for servers that want an object. */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** Ends all streams; whatever is asked from now on is answered with 503. Tasks go on, and engines stay open. */
  close(): Promise<void>
}

/** The same for one engine. */
export interface HttpHandler extends TenantHttpHandler {
  /** The OpenAPI 3.1 document of all that is on the bus now. */
  openapi(): OpenApiDocument
}

/**
 * The abilities of an engine as routes over HTTP, for any server that speaks `Request` and `Response`. The server in front of it must
 * pass on the `Host` header, and the abort of a request whose client is gone.
 *
 * All who come in share the engine's ledger: principals see each other's tasks. Where they must not, each tenant has an engine, and so a
 * ledger, of its own: `authenticate` gives the `tenant` of a principal, and `engineFor` the engine of a tenant. The program opens and
 * closes these engines.
 *
 * @example
 * const http = createHttp(engine, { token: process.env.ERRAND_TOKEN, basePath: '/errand' })
 * app.mount('/errand', http.fetch) // Hono; for node:http and Fastify: toNodeListener(http.fetch, console.error)
 *
 * @example
 * const http = createHttp({ engineFor: (tenant) => engines.get(tenant) }, { authenticate })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. Where the package hono is not installed every request is answered with 501
 *   NOT_OFFERED, which names it.
 */
export function createHttp(engine: HttpEngine, options: HttpOptions): HttpHandler
export function createHttp(engines: TenantEngines<HttpEngine>, options: HttpOptions): TenantHttpHandler
export function createHttp(engines: HttpEngine | TenantEngines<HttpEngine>, options: HttpOptions): TenantHttpHandler {
  const source = new EngineSource(engines, 'createHttp')
  const checked = parse(httpOptionsSchema, options, 'createHttp')
  const handler = createHandler(source, checked, credentialsOf(source, checked))
  if ('engineFor' in engines) return handler
  return Object.assign(handler, {
    openapi: () => openApiDocument(engines.bus.abilities(), checked.basePath),
  })
}

/** The check of credentials, which whatever is served beside the routes shares with them. @throws ErrandError INVALID_INPUT */
export function credentialsOf(
  { hasTenants }: EngineSource<HttpEngine>,
  { authenticate, token, clock }: CheckedHttpOptions,
): Credentials {
  return new Credentials({ authenticate, token, clock, hasTenants })
}

export function createHandler(
  source: EngineSource<HttpEngine>,
  options: CheckedHttpOptions,
  credentials: Credentials,
): TenantHttpHandler {
  const service = new HttpService(source, options, credentials)
  const fetch = (request: Request, peer?: Peer): Promise<Response> => service.answer(request, peer)
  return Object.assign(fetch, { fetch, close: async () => service.close() })
}

type Bus = HttpEngine['bus']

/** What is known of a request while it is answered. */
interface Env {
  Bindings: {
    peer: Peer | undefined
    /** Releases the place that the request takes up. */
    onAnswered: { release: () => void }
  }
  Variables: {
    /** Of the engine that the principal reaches: no other is asked for anything. */
    bus: Bus
    principal: Principal
    caller: Caller
    /** Under what name the principal is counted. */
    limitKey: string
  }
}

class HttpService {
  readonly #source: EngineSource<HttpEngine>
  readonly #options: CheckedHttpOptions
  readonly #credentials: Credentials
  readonly #streams: EventStreams
  /** Answers of each engine by itself, for as long as the program keeps it: tenants neither get nor displace those of others. */
  readonly #kept = new WeakMap<Bus, KeptAnswers>()
  readonly #rate: RateLimit | undefined
  readonly #requests: OpenLimit
  #app: Promise<Hono<Env>> | undefined
  #closed = false

  constructor(source: EngineSource<HttpEngine>, options: CheckedHttpOptions, credentials: Credentials) {
    this.#source = source
    this.#options = options
    this.#credentials = credentials
    this.#streams = new EventStreams(options)
    this.#rate = options.rateLimit === false ? undefined : new RateLimit(options.rateLimit, options.clock)
    this.#requests = new OpenLimit({ maxPerPrincipal: options.maxRequestsPerPrincipal })
  }

  async answer(request: Request, peer: Peer | undefined): Promise<Response> {
    let response: Response
    const onAnswered = { release: () => {} }
    try {
      this.#app ??= this.#routed()
      response = await (await this.#app).fetch(request, { peer, onAnswered })
    } catch (error) {
      response = this.#problem(error, request)
    } finally {
      onAnswered.release()
    }
    response.headers.set('x-content-type-options', 'nosniff')
    if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
    return this.#withCors(request, response)
  }

  close(): void {
    this.#closed = true
    this.#streams.endAll()
  }

  async #routed(): Promise<Hono<Env>> {
    const { Hono } = await loadHono()
    const app = new Hono<Env>({ getPath: ({ url }) => this.#pathOf(url) })
    app.onError((error, context) => this.#problem(error, context.req.raw))
    app.notFound(() => {
      throw new Refusal('NOT_FOUND', 'There is nothing at this path. GET /docs shows what there is.')
    })
    app.use(async (context, next) => {
      const answered = await this.#judge(context)
      if (answered !== undefined) return answered
      await next()
      return undefined
    })
    for (const route of routes) app.on(route.method, honoPath(route.path), (context) => this.#serve(route, context))
    app.get('/abilities', (context) => context.json({ abilities: abilitiesFor(context.var).map(toListed) }))
    app.post('/abilities/:abilityId', (context) => this.#serveAbility(context))
    app.get('/openapi.json', (context) => context.json(this.#documentFor(context.var)))
    app.get('/docs', (context) =>
      context.html(docsPage(this.#documentFor(context.var)), 200, { 'content-security-policy': docsPolicy }),
    )
    for (const [path, methods] of methodsByPath()) {
      app.all(honoPath(path), () => {
        throw methodNotAllowed(methods)
      })
    }
    return app
  }

  #pathOf(url: string): string {
    const { pathname } = new URL(url)
    const { basePath } = this.#options
    // What stands in front may have taken the prefix off already.
    const isBelow = basePath !== '' && (pathname === basePath || pathname.startsWith(`${basePath}/`))
    return isBelow ? pathname.slice(basePath.length) || '/' : pathname
  }

  /** Lets it pass, or answers it, or throws why it is not let in. */
  async #judge(context: Context<Env>): Promise<Response | undefined> {
    const request = context.req.raw
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'This server is closing.')
    const refused = refuseRequest(request, this.#options)
    if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
    if (isPreflight(request)) return new Response(null, { status: 204 })
    const address = addressOf(context.env.peer)
    const judged = await this.#credentials.judge(request, address)
    if (judged.principal === null) throw unauthenticated(judged.waitSeconds)
    const { principal } = judged
    const counted = limitKeyOf(principal, address)
    const waitSeconds = this.#rate?.draw(counted) ?? 0
    if (waitSeconds > 0) throw tooMany(waitSeconds)
    const place = this.#requests.take(counted)
    if ('full' in place) throw tooManyAtOnce(this.#options.maxRequestsPerPrincipal)
    context.env.onAnswered.release = place.release
    const engine = await this.#source.engineOf(principal)
    if (engine === null) throw new Refusal('FORBIDDEN', tenantNotServed)
    if (!isServed(engine)) throw new ErrandError('ENGINE_CLOSED', 'The engine is closed. Its tasks are in its ledger.')
    context.set('bus', engine.bus)
    context.set('principal', principal)
    context.set('caller', { ...callerOf(principal, 'http'), maxTasksPerCall: this.#options.maxTasksPerRequest })
    context.set('limitKey', counted)
    return undefined
  }

  async #serve(route: Route, context: Context<Env>): Promise<Response> {
    const ability = context.var.bus.get(route.ability)
    if (ability === undefined) throw new Refusal('NOT_FOUND', `This engine does not offer ${route.ability}.`)
    const { inputSchema } = ability
    const request = context.req.raw
    const query = new URL(request.url).searchParams
    const fromPath = fieldsOf(new URLSearchParams(context.req.param()), inputSchema)
    const hasBody = takesBody(route)
    if (hasBody) refuseQuery(query)
    else await refuseBody(request)
    const given = hasBody ? await bodyOf(request, this.#options.bodyLimitBytes) : fieldsOf(query, inputSchema)
    const input = withVersion(withFields(given, fromPath, 'the path'), request.headers, inputSchema)
    if (route.streams) return this.#stream(ability, input, context)
    if (route.creates) return this.#create(ability, input, context, route)
    const call = () => this.#call(ability.id, input, context, { route })
    return hasBody ? this.#once(context, input, call) : call()
  }

  async #serveAbility(context: Context<Env>): Promise<Response> {
    const abilityId = context.req.param('abilityId') as string
    const request = context.req.raw
    refuseQuery(new URL(request.url).searchParams)
    const ability = context.var.bus.get(abilityId)
    const body = await bodyOf(request, this.#options.bodyLimitBytes)
    const input = withVersion(body, request.headers, ability?.inputSchema ?? {})
    if (ability?.isStream) return this.#stream(ability, input, context)
    // Of an unknown one the bus knows what was probably meant.
    return this.#once(context, input, () => this.#call(abilityId, input, context))
  }

  async #call(
    abilityId: string,
    input: unknown,
    context: Context<Env>,
    { route, identity }: { route?: Route; identity?: string } = {},
  ): Promise<Response> {
    const { bus, caller } = context.var
    const output = await bus.call(abilityId, input, { caller, identity, signal: context.req.raw.signal })
    return this.#toAnswer(output, route)
  }

  /** What is made under a key is made once, for ever: the ledger keeps the key. */
  async #create(ability: Ability, input: unknown, context: Context<Env>, route: Route): Promise<Response> {
    const key = idempotencyKeyOf(context.req.raw.headers)
    if (key === undefined) return this.#call(ability.id, input, context, { route })
    const { owner, taskId } = context.var.caller
    const identity = `${keyPrefixes.http}${encodeURIComponent(owner ?? taskId ?? '')}:${key}`
    if (typeof input === 'object' && input !== null && 'key' in input) {
      throw refusedHeader('idempotency-key', 'Give either `key` or the header Idempotency-Key.')
    }
    try {
      return await this.#call(ability.id, input, context, { route, identity })
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'KEY_CONFLICT') throw otherRequest()
      throw error
    }
  }

  /** Answered once under its key, refusals too. */
  async #once(context: Context<Env>, input: unknown, answer: () => Promise<Response>): Promise<Response> {
    const request = context.req.raw
    const key = idempotencyKeyOf(request.headers)
    if (key === undefined) return answer()
    const fingerprint = fingerprintOf(request.method, context.req.path, input)
    // An answer is given again to nobody who might not have been given it in the first place.
    const whose = JSON.stringify([context.var.principal, key])
    return this.#keptOf(context.var.bus).once(whose, fingerprint, () =>
      answer().catch((error: unknown) => this.#problem(error, request)),
    )
  }

  async #stream(ability: Ability, given: unknown, context: Context<Env>): Promise<Response> {
    const request = context.req.raw
    const { bus, caller } = context.var
    if (request.headers.has('idempotency-key')) {
      throw refusedHeader(
        'idempotency-key',
        'A stream is not given again under an Idempotency-Key. Go on after the last id that was seen.',
      )
    }
    const lastId = hasField(ability.inputSchema, 'after') ? lastIdOf(request.headers) : undefined
    const input = lastId === undefined ? given : { ...(given as object), after: lastId }
    const shape = shapeOf(ability.id)
    const source: string = shape.lots?.ability ?? ability.id
    return this.#streams.answer({
      request,
      limitKey: context.var.limitKey,
      shape,
      lastId,
      open: (signal) => bus.stream(source, input, { caller, signal }) as AsyncGenerator<unknown, void, undefined>,
      problem: (error) => problemOf(error, this.#options.onError),
    })
  }

  #toAnswer(output: unknown, route: Route | undefined): Response {
    const version = route === undefined ? undefined : versionOf(output)
    const taskId = (output as { taskId?: unknown } | null)?.taskId
    const headers = {
      'content-type': 'application/json',
      ...(version === undefined ? {} : { etag: `"${version}"` }),
      ...(route?.creates ? { location: `${this.#options.basePath}/tasks/${encodeURIComponent(String(taskId))}` } : {}),
    }
    return new Response(JSON.stringify(output) ?? 'null', { status: route?.creates ? 201 : 200, headers })
  }

  #keptOf(bus: Bus): KeptAnswers {
    const kept = this.#kept.get(bus) ?? new KeptAnswers(this.#options.clock)
    this.#kept.set(bus, kept)
    return kept
  }

  /** What the caller may call, and nothing else. */
  #documentFor(asked: Env['Variables']): OpenApiDocument {
    return openApiDocument(abilitiesFor(asked), this.#options.basePath)
  }

  #problem(thrown: unknown, request: Request): Response {
    return problemAnswer(thrown, isReleased(thrown, request) ? () => {} : this.#options.onError)
  }

  /** For pages of origins that were allowed by name; a page of the host itself needs none of it. */
  #withCors(request: Request, response: Response): Response {
    const origin = request.headers.get('origin')
    if (origin === null || !this.#options.allowedOrigins.includes(origin)) return response
    response.headers.set('access-control-allow-origin', origin)
    response.headers.append('vary', 'origin')
    response.headers.set('access-control-expose-headers', 'etag, location, retry-after, idempotency-replayed')
    if (!isPreflight(request)) return response
    response.headers.set('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
    response.headers.set(
      'access-control-allow-headers',
      'authorization, content-type, if-match, idempotency-key, last-event-id',
    )
    response.headers.set('access-control-max-age', '600')
    return response
  }
}

function abilitiesFor({ bus, caller }: Env['Variables']): Ability[] {
  return bus.abilities().filter((ability) => mayCall(ability, caller) === true)
}

function toListed({ id, description, isStream, access, inputSchema, outputSchema }: Ability) {
  return { id, description, isStream, access, inputSchema, outputSchema }
}

/** An engine that has closed has taken its abilities with it: what is not found then may well be there. */
function isServed({ bus }: HttpEngine): boolean {
  return routes.some(({ ability }) => bus.has(ability))
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function methodsByPath(): Map<string, string[]> {
  const own = ['/abilities', '/openapi.json', '/docs'].map((path): [string, string[]] => [path, ['GET']])
  const methods = new Map<string, string[]>([...own, ['/abilities/{abilityId}', ['POST']]])
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

/** What a browser asks before it lets a page of another origin ask. Whoever sends it has no credentials yet. */
function isPreflight(request: Request): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('origin') &&
    request.headers.has('access-control-request-method')
  )
}

/** What an ability broke off because its client has gone is no failure of anybody's. */
function isReleased(thrown: unknown, { signal }: Request): boolean {
  return signal.aborted && ErrandError.isInstance(thrown) && thrown.cause === signal.reason
}

/** What is in the query of a request with a body would be lost. */
function refuseQuery(query: URLSearchParams): void {
  const [name] = query.keys()
  if (name === undefined) return
  throw new Refusal('INVALID_INPUT', `The parameter "${name}" belongs into the body, as one of its fields.`, {
    details: { issues: [{ path: name, message: 'given in the query' }] },
  })
}

/** Where a client was that lost its stream. @throws Refusal 400 */
function lastIdOf(headers: Headers): number | undefined {
  const given = headers.get('last-event-id')
  if (given === null || given === '') return undefined
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw refusedHeader(
    'last-event-id',
    'The header Last-Event-ID must hold the id of an event of this stream, a number.',
  )
}

function versionOf(output: unknown): number | undefined {
  const { version, task } = (output ?? {}) as { version?: unknown; task?: { version?: unknown } | null }
  const found = version ?? task?.version
  return typeof found === 'number' ? found : undefined
}

function tooMany(waitSeconds: number): Refusal {
  const headers = retryAfter(waitSeconds)
  return new Refusal(
    'RATE_LIMITED',
    `These are more requests than are taken. The next one is taken in ${headers['retry-after']} s.`,
    { headers },
  )
}

function tooManyAtOnce(maxRequestsPerPrincipal: number): Refusal {
  return new Refusal(
    'RATE_LIMITED',
    `${maxRequestsPerPrincipal} requests of yours are being answered, and no more are taken at once. Wait for one of the answers.`,
    { details: { maxRequestsPerPrincipal }, headers: retryAfter(1) },
  )
}
