// Routes admitted requests to abilities and turns their results, streams and errors into responses.
import type { Context, Hono } from 'hono'
import { keyPrefixes } from '../../abilities/task/keys.ts'
import type { Ability } from '../../bus/ability.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { hasField } from '../../bus/json-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Credentials } from '../../web/credentials.ts'
import type { Peer } from '../../web/node-listener.ts'
import { methodNotAllowed, problemAnswer, problemOf, Refusal, refusedHeader } from '../../web/problem.ts'
import type { EngineSource } from '../../web/tenants.ts'
import { Admission, type Admitted } from './admission.ts'
import { withCors } from './cors.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import type { CheckedHttpOptions, HttpEngine } from './http-options.ts'
import { fingerprintOf, otherRequest, StoredResponses } from './idempotency.ts'
import { loadHono } from './load-hono.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import {
  bodyOf,
  fieldsOf,
  idempotencyKeyOf,
  lastEventIdOf,
  refuseBody,
  refuseQuery,
  withFields,
  withVersion,
} from './request-input.ts'
import { type Route, routes, takesBody } from './routes.ts'
import { EventStreams } from './sse.ts'
import { shapeOf } from './stream-shapes.ts'

type Bus = HttpEngine['bus']

/** Values attached to a request while it is answered. */
interface Env {
  Bindings: {
    peer: Peer | undefined
    /** Releases the slot of the request. */
    onAnswered: { release: () => void }
  }
  Variables: { client: Admitted }
}

export class HttpService {
  readonly #options: CheckedHttpOptions
  readonly #admission: Admission
  readonly #streams: EventStreams
  /** Stored responses for each engine, as long as the program keeps it, so that tenants cannot read or evict those of others. */
  readonly #stored = new WeakMap<Bus, StoredResponses>()
  #app: Promise<Hono<Env>> | undefined
  #closed = false

  constructor(source: EngineSource<HttpEngine>, options: CheckedHttpOptions, credentials: Credentials) {
    this.#options = options
    this.#admission = new Admission(source, options, credentials)
    this.#streams = new EventStreams(options)
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
    return withCors(request, response, this.#options.allowedOrigins)
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
      throw new Refusal('NOT_FOUND', 'There is no route at this path. GET /docs lists the routes.')
    })
    app.use(async (context, next) => {
      if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The server is closing.')
      const { peer, onAnswered } = context.env
      const admitted = await this.#admission.admit(context.req.raw, peer, onAnswered)
      if (admitted === undefined) return new Response(null, { status: 204 })
      context.set('client', admitted)
      await next()
      return undefined
    })
    for (const route of routes) app.on(route.method, honoPath(route.path), (context) => this.#serve(route, context))
    app.get('/abilities', (context) => context.json({ abilities: abilitiesFor(context.var.client).map(toListed) }))
    app.post('/abilities/:abilityId', (context) => this.#serveAbility(context))
    app.get('/openapi.json', (context) => context.json(this.#documentFor(context.var.client)))
    app.get('/docs', (context) =>
      context.html(docsPage(this.#documentFor(context.var.client)), 200, { 'content-security-policy': docsPolicy }),
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
    // The server in front may have removed the prefix already.
    const isBelow = basePath !== '' && (pathname === basePath || pathname.startsWith(`${basePath}/`))
    return isBelow ? pathname.slice(basePath.length) || '/' : pathname
  }

  async #serve(route: Route, context: Context<Env>): Promise<Response> {
    const ability = context.var.client.bus.get(route.ability)
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
    const ability = context.var.client.bus.get(abilityId)
    const body = await bodyOf(request, this.#options.bodyLimitBytes)
    const input = withVersion(body, request.headers, ability?.inputSchema ?? {})
    if (ability?.isStream) return this.#stream(ability, input, context)
    // For an unknown id, the bus suggests the nearest one.
    return this.#once(context, input, () => this.#call(abilityId, input, context))
  }

  async #call(
    abilityId: string,
    input: unknown,
    context: Context<Env>,
    { route, identity }: { route?: Route; identity?: string } = {},
  ): Promise<Response> {
    const { bus, caller } = context.var.client
    const output = await bus.call(abilityId, input, { caller, identity, signal: context.req.raw.signal })
    return this.#toAnswer(output, route)
  }

  /** `Idempotency-Key` of a creation is permanent: the ledger stores it as the key of the task. */
  async #create(ability: Ability, input: unknown, context: Context<Env>, route: Route): Promise<Response> {
    const key = idempotencyKeyOf(context.req.raw.headers)
    if (key === undefined) return this.#call(ability.id, input, context, { route })
    const { owner, taskId } = context.var.client.caller
    const identity = `${keyPrefixes.http}${encodeURIComponent(owner ?? taskId ?? '')}:${key}`
    if (typeof input === 'object' && input !== null && 'key' in input) {
      throw refusedHeader('idempotency-key', 'Send either `key` or the header Idempotency-Key, not both.')
    }
    try {
      return await this.#call(ability.id, input, context, { route, identity })
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'KEY_CONFLICT') throw otherRequest()
      throw error
    }
  }

  /** Runs the request once per key and repeats its response, refusals included. */
  async #once(context: Context<Env>, input: unknown, answer: () => Promise<Response>): Promise<Response> {
    const request = context.req.raw
    const key = idempotencyKeyOf(request.headers)
    if (key === undefined) return answer()
    const fingerprint = fingerprintOf(request.method, context.req.path, input)
    // A stored response is only repeated to the same principal.
    const whose = JSON.stringify([context.var.client.principal, key])
    return this.#storedOf(context.var.client.bus).once(whose, fingerprint, () =>
      answer().catch((error: unknown) => this.#problem(error, request)),
    )
  }

  async #stream(ability: Ability, given: unknown, context: Context<Env>): Promise<Response> {
    const request = context.req.raw
    const { bus, caller } = context.var.client
    if (request.headers.has('idempotency-key')) {
      throw refusedHeader(
        'idempotency-key',
        'Streams do not support Idempotency-Key. Continue after the last received id.',
      )
    }
    const lastId = hasField(ability.inputSchema, 'after') ? lastEventIdOf(request.headers) : undefined
    const input = lastId === undefined ? given : { ...(given as object), after: lastId }
    const shape = shapeOf(ability.id)
    const source: string = shape.batches?.ability ?? ability.id
    return this.#streams.answer({
      request,
      limitKey: context.var.client.limitKey,
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

  #storedOf(bus: Bus): StoredResponses {
    const stored = this.#stored.get(bus) ?? new StoredResponses(this.#options.clock)
    this.#stored.set(bus, stored)
    return stored
  }

  /** Contains only what the caller may call. */
  #documentFor(client: Admitted): OpenApiDocument {
    return openApiDocument(abilitiesFor(client), this.#options.basePath)
  }

  #problem(thrown: unknown, request: Request): Response {
    return problemAnswer(thrown, isReleased(thrown, request) ? () => {} : this.#options.onError)
  }
}

function abilitiesFor({ bus, caller }: Admitted): Ability[] {
  return bus.abilities().filter((ability) => mayCall(ability, caller) === true)
}

function toListed({ id, description, isStream, access, inputSchema, outputSchema }: Ability) {
  return { id, description, isStream, access, inputSchema, outputSchema }
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

/** True for an abort by the client, which is not a failure. */
function isReleased(thrown: unknown, { signal }: Request): boolean {
  return signal.aborted && ErrandError.isInstance(thrown) && thrown.cause === signal.reason
}

function versionOf(output: unknown): number | undefined {
  const { version, task } = (output ?? {}) as { version?: unknown; task?: { version?: unknown } | null }
  const found = version ?? task?.version
  return typeof found === 'number' ? found : undefined
}
