// Answers MCP requests over HTTP: validates credentials, then resolves the engine of the principal. Sessions and subscriptions are kept
// per engine and cannot be reached through another engine.
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'
import { maxBodyBytes, readJsonBody } from '../web/body.ts'
import { Credentials, tooManyInvalidCredentials } from '../web/credentials.ts'
import { limitKeyOf, type Principal } from '../web/principal.ts'
import { OpenLimit } from '../web/rate-limit.ts'
import { isJsonType, refuseRequest } from '../web/request-guard.ts'
import { FetchedRequest, type ServedRequest } from '../web/served-request.ts'
import { type EngineSource, tenantNotServed } from '../web/tenants.ts'
import { Answers, AnswersByClient } from './answers.ts'
import { loadSdk, type Sdk } from './load-sdk.ts'
import { agentNameSchema, type CheckedFetchOptions, type ServedEngine } from './mcp-options.ts'
import { McpService } from './mcp-service.ts'
import { withdrawnIn } from './task-mapping.ts'

/** The client of a request, and the key under which limits count it. */
interface Client {
  principal: Principal
  limitKey: string
  /** The name of the agent that it works for. */
  agent: string | undefined
  /** The answers to the calls of this request. */
  answers: Answers
}

/** The state of serving one engine; nothing of it is shared with other engines. */
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
  readonly #answers = new AnswersByClient()
  readonly #path: string | undefined
  /** By tenant; the key is undefined for a single engine. */
  readonly #servings = new Map<string | undefined, Serving>()
  #closed = false

  /** @param path the only path that is served; absent: any. @throws ErrandError INVALID_INPUT */
  constructor(source: EngineSource<ServedEngine>, options: CheckedFetchOptions, path?: string) {
    const { authenticate, token, clock, maxRequestsPerPrincipal } = options
    this.#source = source
    this.#options = options
    this.#path = path
    this.#credentials = new Credentials({ authenticate, token, clock, hasTenants: source.hasTenants })
    this.#requests = new OpenLimit({ maxPerPrincipal: maxRequestsPerPrincipal })
  }

  /** Only rejects with NOT_OFFERED, if the MCP package is not installed. */
  async answer(request: Request, address: string | undefined): Promise<Response> {
    const served = new FetchedRequest(request)
    const principal = await this.#authenticate(served, address).catch((error: unknown) => this.#failed(error))
    if (principal instanceof Response) return principal
    const sdk = await loadSdk()
    const limitKey = limitKeyOf(principal, address)
    const slot = this.#requests.take(limitKey)
    if ('full' in slot) return this.#tooMany()
    const agent = principal.owner ?? request.headers.get(agentHeader) ?? this.#options.as
    const answers = new Answers()
    const ended = this.#answers.add(clientKey(limitKey, agent), answers)
    const response = await this.#serve(sdk, request, { principal, limitKey, agent, answers }).catch((error: unknown) =>
      this.#failed(error),
    )
    const end = (isWhole: boolean): void => {
      if (isWhole && !request.signal.aborted) answers.allSent()
      else answers.lose()
      ended()
      slot.release()
    }
    // A stream holds its slot until it ends.
    if (isStream(response) || answers.haveTaken) return watchedToItsEnd(response, end)
    end(true)
    return response
  }

  /** Returns the principal, or the refusal; only headers have been read by then. @throws the error of `authenticate`. */
  async #authenticate(request: ServedRequest, address: string | undefined): Promise<Principal | Response> {
    const refused = refuseRequest(request, this.#options)
    if (refused !== undefined) return refusal(refused.status, refused.why)
    const judged = await this.#credentials.judge(request, address)
    if (judged.principal === null) return unauthenticated(judged.waitSeconds)
    // Checked after the credentials, so that unauthenticated clients cannot probe paths.
    if (this.#path !== undefined && request.url.pathname !== this.#path) {
      return refusal(404, `The endpoint is ${this.#path}.`)
    }
    if (request.method === 'POST' && !isJsonType(request.headers.get('content-type'))) {
      return refusal(415, 'The content type must be application/json.')
    }
    return refusedAgent(request, judged.principal) ?? judged.principal
  }

  #failed(error: unknown): Response {
    this.#options.onError(error)
    return refusal(500, 'Internal error. The operator of the server can see the cause.', { code: -32_603 })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#answers.lose()
    await Promise.all(Array.from(this.#servings.values(), (serving) => serving.close()))
    this.#servings.clear()
  }

  async #serve(sdk: Sdk, request: Request, client: Client): Promise<Response> {
    const { principal } = client
    const engine = await this.#source.engineOf(principal)
    if (engine === null) return refusal(403, tenantNotServed)
    if (this.#closed) return refusal(503, 'The server is closed and accepts no more calls.')
    const { handler } = this.#servingOf(sdk, principal.tenant, engine)
    const authInfo = asAuthInfo(client)
    request.signal.addEventListener('abort', () => client.answers.lose(), { once: true })
    if (request.method !== 'POST') return handler.fetch(request, { authInfo })
    const body = await readJsonBody(new FetchedRequest(request))
    if ('json' in body) {
      // Each request has a server of its own, which does not know those of the client's other requests.
      for (const id of withdrawnIn(body.json)) this.#answers.withdraw(clientKey(client.limitKey, client.agent), id)
      return handler.fetch(request, { authInfo, parsedBody: body.json })
    }
    return refusal(body.refused, body.why, body.refused === 400 ? { code: -32_700 } : {})
  }

  #servingOf(sdk: Sdk, tenant: string | undefined, engine: ServedEngine): Serving {
    const known = this.#servings.get(tenant)
    if (known?.engine.bus === engine.bus) return known
    // The program has reopened the tenant's engine.
    if (known !== undefined) this.#drop(tenant, known)
    this.#dropEnded()
    const serving = createServing(sdk, engine, this.#options)
    this.#servings.set(tenant, serving)
    return serving
  }

  /** Drops engines that are closed: they have unregistered their abilities. */
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
    const why = `Too many concurrent requests: ${maxRequestsPerPrincipal} of this client are in progress. Retry when one of them has been answered.`
    return refusal(429, why, { headers: { 'retry-after': '1' } })
  }
}

function createServing(sdk: Sdk, engine: ServedEngine, options: CheckedFetchOptions): Serving {
  const service = new McpService(engine, options)
  const handler = sdk.createMcpHandler(
    ({ era, authInfo }) => service.createServer(sdk, { ...clientIn(authInfo), era, reachable: era === 'modern' }),
    { onerror: options.onError, maxRequestBodySize: maxBodyBytes },
  )
  const listenNoMore = service.onToolsChanged(() => handler.notify.toolsChanged())
  const close = async (): Promise<void> => {
    listenNoMore()
    await handler.close()
    await service.close()
  }
  return { engine, handler, close }
}

/** Passes the client through the MCP package to the server that it creates for a request. */
function asAuthInfo(client: Client): AuthInfo {
  return { token: '', clientId: '', scopes: [], extra: { client } }
}

function clientIn(authInfo: AuthInfo | undefined): Client {
  const client = authInfo?.extra?.['client'] as Client | undefined
  if (client === undefined) throw new Error('The request reached its server without its client.')
  return client
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false
}

function clientKey(limitKey: string, agent: string | undefined): string {
  return JSON.stringify([limitKey, agent ?? null])
}

/** The same response; `end` is called when its body has been read as a whole, or has been canceled or broken off. */
function watchedToItsEnd(response: Response, end: (isWhole: boolean) => void): Response {
  if (response.body === null) {
    end(true)
    return response
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          end(true)
          controller.close()
        } catch (error) {
          end(false)
          controller.error(error)
        }
      },
      cancel(reason) {
        end(false)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(watched, response)
}

// ── refusals as MCP errors ──

const agentHeader = 'x-errand-agent'

function refusal(
  status: number,
  message: string,
  { code = -32_000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}

/** 401, or 429 when the client has sent too many invalid credentials and must wait. */
function unauthenticated(waitSeconds: number): Response {
  if (waitSeconds === 0) {
    return refusal(401, 'A bearer token is required.', { headers: { 'www-authenticate': 'Bearer realm="errand"' } })
  }
  const headers = { 'retry-after': String(Math.ceil(waitSeconds)) }
  return refusal(429, tooManyInvalidCredentials(waitSeconds), { headers })
}

/** Refuses an agent name in the header that differs from the name in the credentials. */
function refusedAgent({ headers }: ServedRequest, { owner }: Principal): Response | undefined {
  const agent = headers.get(agentHeader)
  if (agent === null || agent === owner) return undefined
  if (!agentNameSchema.safeParse(agent).success) {
    return refusal(400, `The header ${agentHeader} must be a name of at most 100 letters, digits and . _ @ : / -`)
  }
  if (owner === undefined) return undefined
  return refusal(403, `The header ${agentHeader} names another agent than these credentials. Omit the header.`)
}
