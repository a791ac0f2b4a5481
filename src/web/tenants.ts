// Whose engine a request reaches: the one that a surface was given, or that of the tenant whom its credentials name. Engines are opened
// and closed by the program; a surface keeps nothing of one tenant where another could reach it.
import { z } from 'zod'
import { functionOf, parse } from '../core/parse.ts'
import type { Principal } from './principal.ts'

/** The engines of tenants, in place of one engine. Tenants share nothing as long as their engines have ledgers of their own. */
export interface TenantEngines<E> {
  /**
   * The engine of a tenant, asked for with every request: keep it open as long as requests may come. None for a tenant that is not
   * served, whose requests are answered with 403. What it throws, and what is no engine, is a 500 that `onError` is told of.
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

  /** Null for a tenant that is not served. @throws Error for what `engineFor` throws, and for what it gives that is no engine. */
  async engineOf({ tenant }: Principal): Promise<E | null> {
    if (this.#engineFor === undefined) return this.#engine as E
    try {
      const given: unknown = await this.#engineFor(tenant as string)
      return given === null || given === undefined ? null : (parse(engineSchema, given, 'What `engineFor` gave') as E)
    } catch (error) {
      throw new Error('`engineFor` failed, or gave something else than an engine', { cause: error })
    }
  }
}

/** To whoever has credentials of a tenant that is not served. */
export const tenantNotServed = 'The tenant of these credentials is not served here.'
