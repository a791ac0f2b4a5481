// Decides whether a request is served, before its body is read: host and origin, credentials, rate limits, tenant.
import { type Caller, checkedCaller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Credentials } from '../web/credentials.ts'
import { addressOf, type Peer } from '../web/node-listener.ts'
import { callerOf, limitKeyOf, type Principal } from '../web/principal.ts'
import { Refusal, retryAfter, unauthenticated } from '../web/problem.ts'
import { OpenLimit, RateLimit } from '../web/rate-limit.ts'
import { refuseRequest } from '../web/request-guard.ts'
import type { ServedRequest } from '../web/served-request.ts'
import { type EngineSource, tenantNotServed } from '../web/tenants.ts'
import { isPreflight } from './cors.ts'
import type { CheckedHttpOptions, HttpEngine } from './http-options.ts'
import { routes } from './routes.ts'

/** The client of a request that is served. */
export interface Admitted {
  /** The bus of the engine that the principal reaches. */
  bus: HttpEngine['bus']
  principal: Principal
  caller: Caller
  /** When its credentials end, if they do by themselves; its streams end then. */
  expiresAt: number | undefined
  /** The key under which limits count the principal. */
  limitKey: string
}

export class Admission {
  readonly #source: EngineSource<HttpEngine>
  readonly #options: CheckedHttpOptions
  readonly #credentials: Credentials
  readonly #rate: RateLimit | undefined
  readonly #requests: OpenLimit
  /** The token has one principal for all of its requests. */
  readonly #callers = new WeakMap<Principal, Caller>()

  constructor(source: EngineSource<HttpEngine>, options: CheckedHttpOptions, credentials: Credentials) {
    this.#source = source
    this.#options = options
    this.#credentials = credentials
    this.#rate = options.rateLimit === false ? undefined : new RateLimit(options.rateLimit, options.clock)
    this.#requests = new OpenLimit({ maxPerPrincipal: options.maxRequestsPerPrincipal })
  }

  /**
   * Resolves to the client, or to undefined for a CORS preflight. `onAnswered` gets the release of the request's slot.
   * @throws Refusal 401, 403, 429; ErrandError ENGINE_CLOSED
   */
  async admit(
    request: ServedRequest,
    peer: Peer | undefined,
    onAnswered: { release: () => void },
  ): Promise<Admitted | undefined> {
    this.#guard(request)
    if (isPreflight(request)) return undefined
    const address = addressOf(peer)
    const judged = await this.#credentials.judge(request, address)
    if (judged.principal === null) throw unauthenticated(judged.waitSeconds)
    const { principal, expiresAt } = judged
    const limitKey = limitKeyOf(principal, address)
    onAnswered.release = this.#limited(limitKey)
    return { bus: await this.#busOf(principal), principal, caller: this.#callerOf(principal), expiresAt, limitKey }
  }

  /**
   * Resolves to the bus for the request of a service to a webhook, which has no credentials but its token. With tenants it is not served: the
   * token does not say of which one it is.
   * @throws Refusal 403, 404, 429; ErrandError ENGINE_CLOSED
   */
  async admitService(
    request: ServedRequest,
    peer: Peer | undefined,
    onAnswered: { release: () => void },
  ): Promise<HttpEngine['bus']> {
    this.#guard(request)
    if (this.#source.hasTenants)
      throw new Refusal('NOT_FOUND', 'A handler of several tenants takes no webhooks: the token names no tenant.')
    const service: Principal = { scopes: [] }
    onAnswered.release = this.#limited(limitKeyOf(service, addressOf(peer)))
    return this.#busOf(service)
  }

  #guard(request: ServedRequest): void {
    const refused = refuseRequest(request, this.#options)
    if (refused !== undefined) throw new Refusal('FORBIDDEN', refused.why)
  }

  /** Counts a request of a principal. Returns what releases its slot. @throws Refusal 429 */
  #limited(limitKey: string): () => void {
    const waitSeconds = this.#rate?.draw(limitKey) ?? 0
    if (waitSeconds > 0) throw tooMany(waitSeconds)
    const slot = this.#requests.take(limitKey)
    if ('full' in slot) throw tooManyAtOnce(this.#options.maxRequestsPerPrincipal)
    return slot.release
  }

  async #busOf(principal: Principal): Promise<HttpEngine['bus']> {
    const engine = await this.#source.engineOf(principal)
    if (engine === null) throw new Refusal('FORBIDDEN', tenantNotServed)
    if (isServed(engine)) return engine.bus
    throw new ErrandError('ENGINE_CLOSED', 'The engine is closed. Its tasks are still in its ledger.')
  }

  #callerOf(principal: Principal): Caller {
    const known = this.#callers.get(principal)
    if (known !== undefined) return known
    const { maxTasksPerRequest: maxTasksPerCall } = this.#options
    const caller = checkedCaller({ ...callerOf(principal, 'http'), maxTasksPerCall })
    this.#callers.set(principal, caller)
    return caller
  }
}

/** False once the engine is closed: it has unregistered its abilities, so a 404 would be wrong. */
function isServed({ bus }: HttpEngine): boolean {
  return routes.some(({ ability }) => bus.has(ability))
}

function tooMany(waitSeconds: number): Refusal {
  const headers = retryAfter(waitSeconds)
  return new Refusal('RATE_LIMITED', `Too many requests; retry in ${headers['retry-after']} s.`, { headers })
}

function tooManyAtOnce(maxRequestsPerPrincipal: number): Refusal {
  return new Refusal(
    'RATE_LIMITED',
    `Too many concurrent requests: ${maxRequestsPerPrincipal} of this client are in progress. Retry when one of them has been answered.`,
    { details: { maxRequestsPerPrincipal }, headers: retryAfter(1) },
  )
}
