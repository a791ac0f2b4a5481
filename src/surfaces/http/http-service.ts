// Routes admitted requests to abilities and turns their results, streams and errors into answers.

import type { Ability } from '../../bus/ability.ts'
import { isUncalled } from '../../bus/ability-error.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { hasField } from '../../bus/json-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { keyPrefixes } from '../../operations/task/keys.ts'
import type { Answer } from '../web/answer.ts'
import { ByteBudget } from '../web/byte-budget.ts'
import type { Credentials } from '../web/credentials.ts'
import type { Peer } from '../web/node-listener.ts'
import { methodNotAllowed, problemAnswer, problemOf, Refusal, refusedHeader } from '../web/problem.ts'
import type { ServedRequest } from '../web/served-request.ts'
import type { EngineSource } from '../web/tenants.ts'
import { Admission, type Admitted } from './authenticate.ts'
import { pathBelow } from './base-path.ts'
import { withCors } from './cors.ts'
import { docsPage, docsPolicy } from './docs-page.ts'
import type { CheckedHttpOptions, HttpEngine } from './http-options.ts'
import { fingerprintOf, otherRequest, StoredAnswers } from './idempotency.ts'
import { type OpenApiDocument, openApiDocument } from './openapi.ts'
import { prometheusText, prometheusType } from './prometheus.ts'
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
import { Router } from './router.ts'
import { type Route, routes, takesBody } from './routes.ts'
import { EventStreams } from './sse.ts'
import { shapeOf } from './stream-shapes.ts'
import { receive, webhookToken } from './webhooks.ts'

type Bus = HttpEngine['bus']

/** How many bytes of answers a principal may have in flight: more pages than long reads may wait for it, which are refused beyond that. */
const maxBytesInFlight = 128 * 1024 * 1024
/** What a page of the ledger is expected to have until it is there. */
const pageBytes = 4 * 1024 * 1024
/** The abilities that answer with such pages. Others may read as little, or wait for something, and count when they answer. */
const pageReads: ReadonlySet<string> = new Set(['task:list', 'task:runs', 'task:calls', 'task:messages', 'event:list'])

/** A request that is admitted and has a route. */
interface Asked {
  request: ServedRequest
  /** Below the base path. */
  path: string
  /** The values of the names in the path of the route. */
  params: Readonly<Record<string, string>>
  client: Admitted
}

type Handler = (asked: Asked) => Answer | Promise<Answer>

export class HttpService {
  readonly #options: CheckedHttpOptions
  readonly #takesWebhooks: boolean
  readonly #admission: Admission
  readonly #streams: EventStreams
  readonly #inFlight = new ByteBudget(maxBytesInFlight)
  readonly #router: Router<Handler>
  /** Stored answers for each engine, as long as the program keeps it, so that tenants cannot read or evict those of others. */
  readonly #stored = new WeakMap<Bus, StoredAnswers>()
  #closed = false

  constructor(source: EngineSource<HttpEngine>, options: CheckedHttpOptions, credentials: Credentials) {
    this.#options = options
    this.#takesWebhooks = !source.hasTenants
    this.#admission = new Admission(source, options, credentials)
    this.#streams = new EventStreams(options)
    this.#router = this.#routed()
  }

  async answer(request: ServedRequest, peer: Peer | undefined): Promise<Answer> {
    let answer: Answer
    const onAnswered = { release: () => {} }
    try {
      answer = await this.#answer(request, peer, onAnswered)
    } catch (error) {
      answer = this.#problem(error, request)
    } finally {
      onAnswered.release()
    }
    if (request.method === 'HEAD') answer.body = null
    answer.headers['x-content-type-options'] = 'nosniff'
    answer.headers['cache-control'] ??= 'no-store'
    return withCors(request, answer, this.#options.allowedOrigins)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  close(): void {
    this.#closed = true
    this.#streams.endAll()
  }

  async #answer(request: ServedRequest, peer: Peer | undefined, onAnswered: { release: () => void }): Promise<Answer> {
    if (this.#closed) throw new ErrandError('ENGINE_CLOSED', 'The server is closing.')
    const path = pathBelow(request.url, this.#options.basePath)
    const token = webhookToken(request, path)
    if (token !== undefined) {
      return receive(await this.#admission.admitService(request, peer, onAnswered), token, request)
    }
    const client = await this.#admission.admit(request, peer, onAnswered)
    if (client === undefined) return { status: 204, headers: {}, body: null }
    const found = this.#router.find(path)
    if (found === undefined) {
      throw new Refusal('NOT_FOUND', 'There is no route at this path. GET /docs lists the routes.')
    }
    const { method } = request
    const handler = found.handlers.get(method === 'HEAD' ? 'GET' : method)
    if (handler === undefined) throw methodNotAllowed([...found.handlers.keys()])
    return handler({ request, path, params: found.params, client })
  }

  #routed(): Router<Handler> {
    const router = new Router<Handler>()
    for (const route of routes) router.add(route.method, route.path, (asked) => this.#serve(route, asked))
    router.add('GET', '/abilities', ({ client }) => jsonAnswer({ abilities: abilitiesFor(client).map(toListed) }))
    router.add('POST', '/abilities/{abilityId}', (asked) => this.#serveAbility(asked))
    router.add('GET', '/metrics', (asked) => this.#metrics(asked))
    router.add('GET', '/openapi.json', ({ client }) => jsonAnswer(this.#documentFor(client)))
    router.add('GET', '/docs', ({ client }) => ({
      status: 200,
      headers: { 'content-type': 'text/html; charset=UTF-8', 'content-security-policy': docsPolicy },
      body: docsPage(this.#documentFor(client)),
    }))
    return router
  }

  async #serve(route: Route, asked: Asked): Promise<Answer> {
    const { request, client } = asked
    const ability = client.bus.get(route.ability)
    if (ability === undefined) throw new Refusal('NOT_FOUND', `This engine does not offer ${route.ability}.`)
    const { inputSchema } = ability
    const query = request.url.searchParams
    const fromPath = fieldsOf(Object.entries(asked.params), inputSchema)
    const hasBody = takesBody(route)
    if (hasBody) refuseQuery(query)
    else await refuseBody(request)
    const given = hasBody ? await bodyOf(request, this.#options.bodyLimitBytes) : fieldsOf(query, inputSchema)
    const input = withVersion(withFields(given, fromPath, 'the path'), request.headers, inputSchema)
    if (route.streams) return this.#stream(ability, input, asked)
    if (route.creates) return this.#create(ability, input, asked, route)
    const call = () => this.#call(ability.id, input, asked, { route })
    return hasBody ? this.#once(asked, input, call) : call()
  }

  async #serveAbility(asked: Asked): Promise<Answer> {
    const { request, params, client } = asked
    const abilityId = params['abilityId'] as string
    refuseQuery(request.url.searchParams)
    const ability = client.bus.get(abilityId)
    const body = await bodyOf(request, this.#options.bodyLimitBytes)
    const input = withVersion(body, request.headers, ability?.inputSchema ?? {})
    if (ability?.isStream) return this.#stream(ability, input, asked)
    // For an unknown id, the bus suggests the nearest one.
    return this.#once(asked, input, () => this.#call(abilityId, input, asked))
  }

  async #call(
    abilityId: string,
    input: unknown,
    { request, client: { bus, caller, limitKey } }: Asked,
    { route, identity }: { route?: Route; identity?: string } = {},
  ): Promise<Answer> {
    const isRead = bus.get(abilityId)?.access === 'read'
    const expected = pageReads.has(abilityId) ? pageBytes : 0
    const inFlight = isRead
      ? await this.#inFlight.take(limitKey, expected, request.signal)
      : this.#inFlight.add(limitKey)
    try {
      const output = await bus.call(abilityId, input, { caller, identity, signal: request.signal })
      const answer = this.#toAnswer(output, route)
      inFlight.set(Buffer.byteLength(answer.body))
      return { ...answer, onSent: inFlight.release }
    } catch (error) {
      inFlight.release()
      throw error
    }
  }

  /** `Idempotency-Key` of a creation is permanent: the ledger stores it as the key of the task. */
  async #create(ability: Ability, input: unknown, asked: Asked, route: Route): Promise<Answer> {
    const key = idempotencyKeyOf(asked.request.headers)
    if (key === undefined) return this.#call(ability.id, input, asked, { route })
    const { owner, taskId } = asked.client.caller
    const identity = `${keyPrefixes.http}${encodeURIComponent(owner ?? taskId ?? '')}:${key}`
    if (typeof input === 'object' && input !== null && 'key' in input) {
      throw refusedHeader('idempotency-key', 'Send either `key` or the header Idempotency-Key, not both.')
    }
    try {
      return await this.#call(ability.id, input, asked, { route, identity })
    } catch (error) {
      if (ErrandError.isInstance(error) && error.code === 'KEY_CONFLICT') throw otherRequest()
      throw error
    }
  }

  /**
   * Runs the request once per key and repeats its answer, refusals by the ability included. A request that was refused before the ability
   * was called has done nothing, and is judged anew.
   */
  async #once({ request, path, client }: Asked, input: unknown, answer: () => Promise<Answer>): Promise<Answer> {
    const key = idempotencyKeyOf(request.headers)
    if (key === undefined) return answer()
    const fingerprint = fingerprintOf(request.method, path, input)
    // A stored answer is only repeated to the same principal.
    return this.#storedOf(client.bus).once(JSON.stringify(client.principal), key, fingerprint, () =>
      answer().catch((error: unknown) => {
        if (isUncalled(error)) throw error
        return this.#problem(error, request)
      }),
    )
  }

  async #stream(ability: Ability, given: unknown, { request, client }: Asked): Promise<Answer> {
    const { bus, caller } = client
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
      limitKey: client.limitKey,
      endsAt: client.expiresAt,
      shape,
      lastId,
      open: (signal) => bus.stream(source, input, { caller, signal }) as AsyncGenerator<unknown, void, undefined>,
      problem: (error) => problemOf(error, this.#options.onError),
    })
  }

  /** The ability is checked and called as at every route; only the form of the answer differs. */
  async #metrics(asked: Asked): Promise<Answer> {
    refuseQuery(asked.request.url.searchParams)
    const { caller, bus } = asked.client
    const metrics = await bus.call('engine:metrics', {}, { caller, signal: asked.request.signal })
    return { status: 200, headers: { 'content-type': prometheusType }, body: prometheusText(metrics) }
  }

  #toAnswer(output: unknown, route: Route | undefined): JsonAnswer {
    const answer = jsonAnswer(output)
    if (route === undefined) return answer
    const version = versionOf(output)
    if (version !== undefined) answer.headers['etag'] = `"${version}"`
    if (!route.creates) return answer
    const { taskId } = output as { taskId: string }
    answer.headers['location'] = `${this.#options.basePath}/tasks/${encodeURIComponent(taskId)}`
    return { ...answer, status: 201 }
  }

  #storedOf(bus: Bus): StoredAnswers {
    const stored = this.#stored.get(bus) ?? new StoredAnswers(this.#options.clock)
    this.#stored.set(bus, stored)
    return stored
  }

  /** Contains only what the caller may call. */
  #documentFor(client: Admitted): OpenApiDocument {
    return openApiDocument(abilitiesFor(client), {
      basePath: this.#options.basePath,
      takesWebhooks: this.#takesWebhooks,
    })
  }

  #problem(thrown: unknown, request: ServedRequest): Answer {
    return problemAnswer(thrown, isReleased(thrown, request) ? () => {} : this.#options.onError)
  }
}

function abilitiesFor({ bus, caller }: Admitted): Ability[] {
  return bus.abilities().filter((ability) => mayCall(ability, caller) === true)
}

function toListed({ id, description, isStream, access, inputSchema, outputSchema }: Ability) {
  return { id, description, isStream, access, inputSchema, outputSchema }
}

type JsonAnswer = Answer & { body: string }

function jsonAnswer(output: unknown): JsonAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(output) ?? 'null' }
}

/** True for an abort by the client, which is not a failure. */
function isReleased(thrown: unknown, { signal }: ServedRequest): boolean {
  const cause = ErrandError.isInstance(thrown) ? thrown.cause : thrown
  return signal.aborted && cause === signal.reason
}

function versionOf(output: unknown): number | undefined {
  const { version, task } = (output ?? {}) as { version?: unknown; task?: { version?: unknown } | null }
  const found = version ?? task?.version
  return typeof found === 'number' ? found : undefined
}
