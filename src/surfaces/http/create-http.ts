// An engine over HTTP, as one function from requests to responses. Each request is judged in one order: where it comes from, who
// sends it, how often, what it asks for. Only then is anything of it read, and what it asks for is an ability of the bus.
import type { Context, Hono } from 'hono'
import { keyPrefixes } from '../../abilities/task/keys.ts'
import type { Ability } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { hasField } from '../../bus/json-schema.ts'
import { ErrandError } from '../../errors.ts'
import { parse } from '../../parse.ts'
import { refusedAtDoor } from '../web/door.ts'
import type { Peer } from '../web/node-listener.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import { type CheckedHttpOptions, type HttpEngine, type HttpOptions, httpOptionsSchema } from './http-options.ts'
import { fingerprintOf, KeptAnswers, otherRequest } from './idempotency.ts'
import { loadHono } from './load-hono.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { callerOf, countedAs, principalOf } from './principal.ts'
import { methodNotAllowed, problemAnswer, problemOf, Refusal, refusedHeader } from './problem.ts'
import { RateLimit } from './rate-limit.ts'
import { bodyOf, fieldsOf, idempotencyKeyOf, refuseBody, withFields, withVersion } from './request-input.ts'
import { type Route, routes, takesBody } from './routes.ts'
import { EventStreams } from './sse.ts'
import { shapeOf } from './stream-shapes.ts'

/** Answers requests, and never rejects. */
export interface HttpHandler {
  (request: Request, peer?: Peer): Promise<Response>
  /** The same function, for servers that want an object. */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** The OpenAPI 3.1 document of all that is on the bus now. */
  openapi(): OpenApiDocument
  /** Ends all streams; whatever is asked from now on is answered with 503. Tasks go on, and the engine stays open. */
  close(): Promise<void>
}

/**
 * The abilities of an engine as routes over HTTP, for any server that speaks `Request` and `Response`. The server in front of it must
 * pass on the `Host` header, and the abort of a request whose client is gone.
 *
 * @example
 * const http = createHttp(engine, { token: process.env.ERRAND_TOKEN, basePath: '/errand' })
 * app.mount('/errand', http.fetch) // Hono; for node:http and Fastify: toNodeListener(http.fetch, console.error)
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT. Where the package hono is not installed every request is answered with 501
 *   NOT_OFFERED, which names it.
 */
export function createHttp(engine: HttpEngine, options: HttpOptions): HttpHandler {
  const service = new HttpService(engine, parse(httpOptionsSchema, options, 'createHttp'))
  const fetch = (request: Request, peer?: Peer): Promise<Response> => service.answer(request, peer)
  return Object.assign(fetch, {
    fetch,
    openapi: () => service.openapi(),
    close: async () => service.close(),
  })
}

interface Env {
  Bindings: { peer: Peer | undefined }
  Variables: { caller: Caller }
}

class HttpService {
  readonly #bus: HttpEngine['bus']
  readonly #options: CheckedHttpOptions
  readonly #streams: EventStreams
  readonly #kept: KeptAnswers
  readonly #rate: RateLimit | undefined
  #app: Promise<Hono<Env>> | undefined
  #closed = false

  constructor({ bus }: HttpEngine, options: CheckedHttpOptions) {
    this.#bus = bus
    this.#options = options
    this.#streams = new EventStreams(options)
    this.#kept = new KeptAnswers(options.clock)
    this.#rate = options.rateLimit === false ? undefined : new RateLimit(options.rateLimit, options.clock)
  }

  async answer(request: Request, peer: Peer | undefined): Promise<Response> {
    let response: Response
    try {
      this.#app ??= this.#routed()
      response = await (await this.#app).fetch(request, { peer })
    } catch (error) {
      response = this.#problem(error, request)
    }
    response.headers.set('x-content-type-options', 'nosniff')
    if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
    return this.#withCors(request, response)
  }

  openapi(): OpenApiDocument {
    return openApiDocument(this.#bus.abilities(), this.#options.basePath)
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
    app.get('/abilities', (context) => context.json({ abilities: this.#abilitiesFor(context.var.caller) }))
    app.post('/abilities/:abilityId', (context) => this.#serveAbility(context))
    app.get('/openapi.json', (context) => context.json(this.openapi()))
    app.get('/docs', (context) =>
      context.html(docsPage(this.openapi()), 200, { 'content-security-policy': docsPolicy }),
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
    const refused = refusedAtDoor(request, this.#options)
    if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
    if (isPreflight(request)) return new Response(null, { status: 204 })
    const principal = await principalOf(request, this.#options)
    const waitSeconds = this.#rate?.draw(countedAs(principal, addressOf(context.env.peer))) ?? 0
    if (waitSeconds > 0) throw tooMany(waitSeconds)
    if (!this.#isServed()) throw new ErrandError('ENGINE_CLOSED', 'The engine is closed. Its tasks are in its ledger.')
    context.set('caller', callerOf(principal, this.#options))
    return undefined
  }

  /** An engine that has closed has taken its abilities with it: what is not found then may well be there. */
  #isServed(): boolean {
    return routes.some(({ ability }) => this.#bus.has(ability))
  }

  async #serve(route: Route, context: Context<Env>): Promise<Response> {
    const ability = this.#bus.get(route.ability)
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
    const ability = this.#bus.get(abilityId)
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
    const { caller } = context.var
    const output = await this.#bus.call(abilityId, input, { caller, identity, signal: context.req.raw.signal })
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
    const whose = JSON.stringify([context.var.caller, key])
    return this.#kept.once(whose, fingerprint, () => answer().catch((error: unknown) => this.#problem(error, request)))
  }

  async #stream(ability: Ability, given: unknown, context: Context<Env>): Promise<Response> {
    const request = context.req.raw
    const { caller } = context.var
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
      shape,
      lastId,
      open: (signal) => this.#bus.stream(source, input, { caller, signal }) as AsyncGenerator<unknown, void, undefined>,
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

  #abilitiesFor(caller: Caller) {
    return this.#bus
      .abilities()
      .filter((ability) => mayCall(ability, caller) === true)
      .map(({ id, description, isStream, access, inputSchema, outputSchema }) => {
        return { id, description, isStream, access, inputSchema, outputSchema }
      })
  }

  #problem(thrown: unknown, request: Request): Response {
    return problemAnswer(thrown, isLetGo(thrown, request) ? () => {} : this.#options.onError)
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
function isLetGo(thrown: unknown, { signal }: Request): boolean {
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
  const seconds = Math.ceil(waitSeconds)
  return new Refusal('RATE_LIMITED', `These are more requests than are taken. The next one is taken in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Frameworks hand over things of their own where a peer may stand. */
function addressOf(peer: unknown): string | undefined {
  const address = (peer as { address?: unknown } | null | undefined)?.address
  return typeof address === 'string' ? address : undefined
}
