// Resolves the engine of a request: the one that the surface was given, or the one of the tenant that the credentials identify. The
// program opens and closes the engines; a surface keeps no state of a tenant that another could reach.
import { z } from 'zod'
import { functionOf, parse } from '../../core/parse.ts'
import type { Principal } from './principal.ts'

/** One engine for each tenant, instead of a single engine. Tenants share nothing if each engine has a ledger of its own. */
export interface TenantEngines<E> {
  /**
   * Returns the engine of a tenant. Called for every request, so keep engines open while requests may come. Null or undefined means that the
   * tenant is not served: its requests are answered with 403. If it throws or returns no engine, the response is a 500 and `onError` is called.
   */
  engineFor: (tenant: string) => E | null | undefined | Promise<E | null | undefined>
}

interface AnyEngine {
  bus: object
}

const tenantsSchema = z.strictObject({
  engineFor: functionOf<TenantEngines<AnyEngine>['engineFor']>('(tenant) => engine'),
})
const engineSchema = z.custom<AnyEngine>(
  (value) => typeof (value as { bus?: { call?: unknown } } | null)?.bus?.call === 'function',
  'expected an engine',
)

export class EngineSource<E extends AnyEngine> {
  readonly #engineFor: TenantEngines<E>['engineFor'] | undefined
  readonly #engine: E | undefined

  /** @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION */
  constructor(given: E | TenantEngines<E>, what: string) {
    if ('engineFor' in given) this.#engineFor = parse(tenantsSchema, given, what).engineFor as never
    else this.#engine = given
  }

  get hasTenants(): boolean {
    return this.#engineFor !== undefined
  }

  /** Null for a tenant that is not served. @throws Error when `engineFor` throws or does not return an engine. */
  async engineOf({ tenant }: Principal): Promise<E | null> {
    if (this.#engineFor === undefined) return this.#engine as E
    try {
      const given: unknown = await this.#engineFor(tenant as string)
      return given === null || given === undefined
        ? null
        : (parse(engineSchema, given, 'The return value of `engineFor`') as E)
    } catch (error) {
      throw new Error('`engineFor` threw or did not return an engine', { cause: error })
    }
  }
}

/** The message of a 403 for a tenant that is not served. */
export const tenantNotServed = 'The tenant of these credentials is not served here.'
