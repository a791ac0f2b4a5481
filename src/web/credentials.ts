// The check of credentials of every surface over HTTP: a token, or the program's own function. Wrong ones are counted by address, and
// beyond a rate they are told to wait. Right ones are always let in: an attacker behind the same address locks nobody out.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { type Authenticate, type Principal, principalSchema, tenantPrincipalSchema } from './principal.ts'
import { RateLimit } from './rate-limit.ts'
import { bearsToken } from './request-guard.ts'

export interface CredentialOptions {
  authenticate?: Authenticate | undefined
  token?: string | false | undefined
  clock: Clock
  /** Principals must have a tenant; else they must have none. */
  hasTenants: boolean
}

/** Somebody known; or somebody unknown, who is to wait so long when these were too many wrong credentials. */
export type Judged = { principal: Principal } | { principal: null; waitSeconds: number }

/** Twenty wrong credentials from one address at once, and then one every three seconds, are answered as such. */
export function limitOfWrongOnes(clock: Clock): RateLimit {
  return new RateLimit({ perSecond: 1 / 3, burst: 20 }, clock)
}

export class Credentials {
  readonly #options: CredentialOptions
  readonly #wrong: RateLimit

  /** @throws ErrandError INVALID_INPUT for tenants and a token, which is nobody's. */
  constructor(options: CredentialOptions) {
    if (options.hasTenants && options.authenticate === undefined) throw tokenNamesNoTenant()
    this.#options = options
    this.#wrong = limitOfWrongOnes(options.clock)
  }

  /** @throws Error for what `authenticate` throws, and for what it gives that is no principal. */
  async judge(request: Request, address: string | undefined): Promise<Judged> {
    const principal = await this.#principalOf(request)
    if (principal !== null) return { principal }
    const attempt = this.#attemptOf(request)
    return { principal, waitSeconds: attempt === undefined ? 0 : this.#wrong.draw(JSON.stringify([attempt, address])) }
  }

  /**
   * As what a request is counted; undefined for one that has nothing wrong to show. What `authenticate` looks at is its own business, so
   * any request may be an attempt; but those with neither header are counted apart, and whoever opens the page without credentials is
   * shown where to sign in, whatever others behind the same address have sent.
   */
  #attemptOf({ headers, method }: Request): 'credentials' | 'unknown' | undefined {
    if (headers.has('authorization')) return 'credentials'
    if (this.#options.authenticate === undefined) return undefined
    if (headers.has('cookie')) return 'credentials'
    const isVisit = method === 'GET' && (headers.get('accept') ?? '').includes('text/html')
    return isVisit ? undefined : 'unknown'
  }

  async #principalOf(request: Request): Promise<Principal | null> {
    const { authenticate, token } = this.#options
    if (authenticate !== undefined) return this.#askedOf(authenticate, request)
    return token === false || bearsToken(request, token as string) ? { scopes: ['admin'] } : null
  }

  /** What goes wrong here is not the client's mistake, and must not look like it. */
  async #askedOf(authenticate: Authenticate, request: Request): Promise<Principal | null> {
    try {
      const given: unknown = await authenticate(request)
      if (given === null) return null
      const schema = this.#options.hasTenants ? tenantPrincipalSchema : principalSchema
      return parse<Principal>(schema, given, 'What `authenticate` gave')
    } catch (error) {
      throw new Error('`authenticate` failed, or gave something else than a principal or null', { cause: error })
    }
  }
}

/** What somebody hears who is to wait. */
export function tooManyWrong(waitSeconds: number): string {
  return `These are more wrong credentials than are answered from one address: wait ${Math.ceil(waitSeconds)} s. Right ones are let in at any time.`
}

function tokenNamesNoTenant(): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    'With `engineFor` credentials must say whose engine is asked for, and `token` names no tenant. Give `authenticate`, whose principals have a `tenant`.',
    { option: 'token' },
  )
}
