// What answers requests of the protocol over HTTP: who asks is judged first, then the engine is found that the principal reaches, and what
// is kept of one engine (its sessions, its subscriptions) is never found by way of another.
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'
import { maxBodyBytes, readJsonBody } from '../../web/body.ts'
import { Credentials, tooManyInvalidCredentials } from '../../web/credentials.ts'
import { OpenLimit } from '../../web/open-limit.ts'
import { limitKeyOf, type Principal } from '../../web/principal.ts'
import { isJsonType, refuseRequest } from '../../web/request-guard.ts'
import { type EngineSource, tenantNotServed } from '../../web/tenants.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'
import { agentNameSchema, type CheckedFetchOptions, type ServedEngine } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'

/** Who sends a request, and under what name it is counted. */
interface Client {
  principal: Principal
  limitKeyOf: string
}

/** One engine as it is served: nothing of it is shared with another. */
interface Serving {
  engine: ServedEngine
  handler: McpHttpHandler
  close(): Promise<void>
}

export class Endpoint {
  readonly #source: EngineSource<ServedEngine>
  readonly #options: CheckedFetchOptions
  readonly #credentials: Credentials
  readonly #requests: OpenLimit
  readonly #path: string | undefined
  /** By tenant; where there is one engine, under undefined. */
  readonly #servings = new Map<string | undefined, Serving>()
  #closed = false

  /** @param path the only one that is served; absent: any. @throws ErrandError INVALID_INPUT */
  constructor(source: EngineSource<ServedEngine>, options: CheckedFetchOptions, path?: string) {
    const { authenticate, token, clock, maxRequestsPerPrincipal } = options
    this.#source = source
    this.#options = options
    this.#path = path
    this.#credentials = new Credentials({ authenticate, token, clock, hasTenants: source.hasTenants })
    this.#requests = new OpenLimit({ maxPerPrincipal: maxRequestsPerPrincipal })
  }

  /** Rejects with NOT_OFFERED where the package of the protocol is not installed, and with nothing else. */
  async answer(request: Request, address: string | undefined): Promise<Response> {
    const principal = await this.#letIn(request, address).catch((error: unknown) => this.#failed(error))
    if (principal instanceof Response) return principal
    const sdk = await loadSdk()
    const counted = limitKeyOf(principal, address)
    const place = this.#requests.take(counted)
    if ('full' in place) return this.#tooMany()
    const response = await this.#serve(sdk, request, { principal, limitKeyOf: counted }).catch((error: unknown) =>
      this.#failed(error),
    )
    // A stream takes up its place until it has ended.
    if (isStream(response)) return releasedAtItsEnd(response, place.release)
    place.release()
    return response
  }

  /** Who asks, or how a request is turned away of which nothing but the headers has been read. @throws what `authenticate` throws. */
  async #letIn(request: Request, address: string | undefined): Promise<Principal | Response> {
    const refused = refuseRequest(request, this.#options)
    if (refused !== undefined) return refusal(refused.status, refused.why)
    const judged = await this.#credentials.judge(request, address)
    if (judged.principal === null) return refusedUnknown(judged.waitSeconds)
    // Whoever may not come in does not hear what there is.
    if (this.#path !== undefined && new URL(request.url).pathname !== this.#path) {
      return refusal(404, `The endpoint is ${this.#path}.`)
    }
    if (request.method === 'POST' && !isJsonType(request.headers.get('content-type'))) {
      return refusal(415, 'The content type must be application/json.')
    }
    return refusedAgent(request, judged.principal) ?? judged.principal
  }

  #failed(error: unknown): Response {
    this.#options.onError(error)
    return refusal(500, 'Internal error. Whoever runs the server can see why.', { code: -32_603 })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(Array.from(this.#servings.values(), (serving) => serving.close()))
    this.#servings.clear()
  }

  async #serve(sdk: Sdk, request: Request, client: Client): Promise<Response> {
    const { principal } = client
    const engine = await this.#source.engineOf(principal)
    if (engine === null) return refusal(403, tenantNotServed)
    if (this.#closed) return refusal(503, 'This server has ended and takes no more calls.')
    const { handler } = this.#servingOf(sdk, principal.tenant, engine)
    const authInfo = asAuthInfo(client)
    if (request.method !== 'POST') return handler.fetch(request, { authInfo })
    const body = await readJsonBody(request)
    if ('json' in body) return handler.fetch(request, { authInfo, parsedBody: body.json })
    return refusal(body.refused, body.why, body.refused === 400 ? { code: -32_700 } : {})
  }

  #servingOf(sdk: Sdk, tenant: string | undefined, engine: ServedEngine): Serving {
    const known = this.#servings.get(tenant)
    if (known?.engine.bus === engine.bus) return known
    // The program has opened the tenant's engine anew.
    if (known !== undefined) this.#drop(tenant, known)
    this.#dropEnded()
    const serving = createServing(sdk, engine, this.#options)
    this.#servings.set(tenant, serving)
    return serving
  }

  /** An engine that has closed has taken its abilities with it, and nobody is served by it any more. */
  #dropEnded(): void {
    for (const [tenant, serving] of this.#servings) {
      if (!serving.engine.bus.has('task:get')) this.#drop(tenant, serving)
    }
  }

  #drop(tenant: string | undefined, serving: Serving): void {
    this.#servings.delete(tenant)
    void serving.close().catch(this.#options.onError)
  }

  #tooMany(): Response {
    const { maxRequestsPerPrincipal } = this.#options
    const why = `${maxRequestsPerPrincipal} requests of yours are being answered, and no more are taken at once. Wait for one of the answers.`
    return refusal(429, why, { headers: { 'retry-after': '1' } })
  }
}

function createServing(sdk: Sdk, engine: ServedEngine, options: CheckedFetchOptions): Serving {
  const service = new McpService(engine, options)
  const handler = sdk.createMcpHandler(
    ({ era, requestInfo, authInfo }) => {
      const { principal, limitKeyOf } = clientIn(authInfo)
      const agent = principal.owner ?? requestInfo?.headers.get(agentHeader) ?? options.as
      return service.createServer(sdk, { agent, principal, limitKeyOf, era, reachable: era === 'modern' })
    },
    { onerror: options.onError, maxRequestBodySize: maxBodyBytes },
  )
  const listenNoMore = service.onToolsChanged(() => handler.notify.toolsChanged())
  const close = async (): Promise<void> => {
    listenNoMore()
    await handler.close()
    await service.sessions.close()
  }
  return { engine, handler, close }
}

/** The client as the protocol's package hands it on, from the door to the server that it makes for a request. */
function asAuthInfo(client: Client): AuthInfo {
  return { token: '', clientId: '', scopes: [], extra: { client } }
}

function clientIn(authInfo: AuthInfo | undefined): Client {
  const client = authInfo?.extra?.['client'] as Client | undefined
  if (client === undefined) throw new Error('The request has lost whose it is on the way to its server.')
  return client
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

/** The same response, which tells when its body has been taken or is wanted no more. */
function releasedAtItsEnd(response: Response, release: () => void): Response {
  const body = response.body as ReadableStream<Uint8Array>
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          release()
          controller.close()
        } catch (error) {
          release()
          controller.error(error)
        }
      },
      cancel(reason) {
        release()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(watched, response)
}

// ── refusals in the words of the protocol ──

const agentHeader = 'x-errand-agent'

function refusal(
  status: number,
  message: string,
  { code = -32_000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}

/** To somebody unknown, who is to wait so long after too many wrong credentials. */
function refusedUnknown(waitSeconds: number): Response {
  if (waitSeconds === 0) {
    return refusal(401, 'A bearer token is needed.', { headers: { 'www-authenticate': 'Bearer realm="errand"' } })
  }
  const headers = { 'retry-after': String(Math.ceil(waitSeconds)) }
  return refusal(429, tooManyInvalidCredentials(waitSeconds), { headers })
}

/** Whoever has a name by its credentials acts in that name. */
function refusedAgent({ headers }: Request, { owner }: Principal): Response | undefined {
  const agent = headers.get(agentHeader)
  if (agent === null || agent === owner) return undefined
  if (!agentNameSchema.safeParse(agent).success) {
    return refusal(400, `The header ${agentHeader} must be a name of at most 100 letters, digits and . _ @ : / -`)
  }
  if (owner === undefined) return undefined
  return refusal(403, `These credentials are those of another agent than ${agentHeader} names. Leave the header out.`)
}
