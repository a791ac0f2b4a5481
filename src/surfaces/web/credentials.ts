// Verifies the credentials of requests on every surface over HTTP: with a token, or with the program's own `authenticate`. Invalid
// credentials are rate limited by address. Valid ones always pass, so an attacker cannot lock out others behind the same address.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { type Authenticate, type Principal, principalSchema, tenantPrincipalSchema } from './principal.ts'
import { RateLimit } from './rate-limit.ts'
import { tokenCheck } from './request-guard.ts'
import type { ServedRequest } from './served-request.ts'
import { hasQueryToken, type TaskTokens } from './task-tokens.ts'

export interface CredentialOptions {
  authenticate?: Authenticate | undefined
  token?: string | false | undefined
  clock: Clock
  /** Signs and reads tokens for one task. Absent: none are accepted. */
  taskTokens?: TaskTokens
  /** True: every principal must have a tenant. False: none may have one. */
  hasTenants: boolean
}

/** `waitSeconds` is above 0 when this address has sent too many invalid credentials. */
export type CredentialResult =
  | { principal: Principal /** When credentials that end by themselves do. */; expiresAt?: number }
  | { principal: null; waitSeconds: number }

/** 20 invalid credentials at once from one address, then one every 3 seconds, are answered with 401; further ones with 429. */
export function createInvalidCredentialLimit(clock: Clock): RateLimit {
  return new RateLimit({ perSecond: 1 / 3, burst: 20 }, clock)
}

/** The token grants every right. */
const tokenPrincipal: Principal = Object.freeze({ scopes: Object.freeze(['admin'] as const) })

export class Credentials {
  readonly #options: CredentialOptions
  readonly #invalidLimit: RateLimit
  readonly #bearsToken: ReturnType<typeof tokenCheck>

  /** @throws ErrandError INVALID_INPUT for `engineFor` without `authenticate`: a token does not identify a tenant. */
  constructor(options: CredentialOptions) {
    if (options.hasTenants && options.authenticate === undefined) throw tokenNamesNoTenant()
    this.#options = options
    this.#bearsToken = typeof options.token === 'string' ? tokenCheck(options.token) : () => options.token === false
    this.#invalidLimit = createInvalidCredentialLimit(options.clock)
  }

  /** @throws Error when `authenticate` throws or does not return a principal or null. */
  async judge(request: ServedRequest, address: string | undefined): Promise<CredentialResult> {
    const bearer = this.#options.taskTokens?.bearerOf(request)
    if (bearer !== undefined) return bearer
    const principal = await this.#principalOf(request)
    if (principal !== null) return { principal }
    const attempt = this.#attemptKind(request)
    return {
      principal,
      waitSeconds: attempt === undefined ? 0 : this.#invalidLimit.draw(JSON.stringify([attempt, address])),
    }
  }

  /**
   * Returns the group under which a failed request is counted, or undefined if it is not an attempt. `authenticate` may read any part of a
   * request, so any request may be an attempt. Requests with neither an `Authorization` header nor a cookie are counted separately, and a
   * browser that opens the page without credentials is not counted at all: it always gets the sign-in page.
   */
  #attemptKind(request: ServedRequest): 'credentials' | 'unknown' | undefined {
    const { headers, method } = request
    if (headers.has('authorization') || (this.#options.taskTokens !== undefined && hasQueryToken(request)))
      return 'credentials'
    if (this.#options.authenticate === undefined) return undefined
    if (headers.has('cookie')) return 'credentials'
    const isVisit = method === 'GET' && (headers.get('accept') ?? '').includes('text/html')
    return isVisit ? undefined : 'unknown'
  }

  async #principalOf(request: ServedRequest): Promise<Principal | null> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) return this.#authenticate(authenticate, request)
    return this.#bearsToken(request) ? tokenPrincipal : null
  }

  /** An error here is not the client's fault, so it must not look like a refusal of its credentials. */
  async #authenticate(authenticate: Authenticate, request: ServedRequest): Promise<Principal | null> {
    try {
      const given: unknown = await authenticate(request.toRequest())
      if (given === null) return null
      const schema = this.#options.hasTenants ? tenantPrincipalSchema : principalSchema
      return parse<Principal>(schema, given, 'The return value of `authenticate`')
    } catch (error) {
      throw new Error('`authenticate` threw or did not return a principal or null', { cause: error })
    }
  }
}

/** The message of a 429 response to invalid credentials. */
export function tooManyInvalidCredentials(waitSeconds: number): string {
  return `Too many invalid credentials from this address; retry in ${Math.ceil(waitSeconds)} s. Valid credentials are accepted at any time.`
}

function tokenNamesNoTenant(): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    '`engineFor` requires credentials that identify a tenant, and `token` does not. Pass `authenticate` and return principals with a `tenant`.',
    { option: 'token' },
  )
}
