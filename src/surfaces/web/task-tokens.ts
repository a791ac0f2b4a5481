// Tokens for one task and the tasks below it, which a program gives to a browser or a service for a while. They are signed and not stored: the
// signature is all that distinguishes them from another text, so none can be withdrawn before it expires.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { parse } from '../../core/parse.ts'
import type { TaskRef } from '../../entities/views.ts'
import { type Principal, principalSchema, tenantPrincipalSchema } from './principal.ts'
import { bearerIn, makeToken, secretCheck } from './request-guard.ts'
import type { ServedRequest } from './served-request.ts'

/** `admin` is left out: it is for abilities beyond tasks. */
const taskScopes = ['read', 'create', 'control'] as const

export interface TaskTokenOptions {
  /** What its bearer may do with the task and the tasks below it. Default `['read']`. */
  scopes?: ReadonlyArray<(typeof taskScopes)[number]>
  /** How long it is valid, at most a week; a stream that was opened with it ends then. Default an hour. */
  expiresInMs?: Duration
  /** The tenant of the task. Required with `engineFor`; refused where one engine serves every client. */
  tenant?: string
}

/** The query parameter for clients that can send no header, like the `EventSource` of browsers. */
const parameter = 'access_token'
/** Without them a task also leads to the memory that it could recall, which others have written. */
const abilities = ['task:*', 'event:*']
const prefix = 'errand_task_'
const maxTokenLength = 2_000
const hourMs = 3_600_000
const weekMs = 604_800_000

const taskRefSchema = z.union([z.string().min(1).max(100), z.looseObject({ id: z.string().min(1).max(100) })])
const contentSchema = z.strictObject({ principal: z.unknown(), expiresAt: z.number() })

export interface TaskTokensOptions {
  /** Default: random, so that tokens end with the handler. */
  secret: string | undefined
  clock: Clock
  hasTenants: boolean
}

export class TaskTokens {
  readonly #secret: string
  readonly #clock: Clock
  readonly #principalSchema: z.ZodType<Principal>
  readonly #optionsSchema: z.ZodType<{ scopes: Principal['scopes']; expiresInMs: number; tenant?: string }>

  constructor({ secret = makeToken(), clock, hasTenants }: TaskTokensOptions) {
    this.#secret = secret
    this.#clock = clock
    this.#principalSchema = (hasTenants ? tenantPrincipalSchema : principalSchema) as z.ZodType<Principal>
    this.#optionsSchema = z.strictObject({
      scopes: z.array(z.enum(taskScopes)).min(1).max(taskScopes.length).default(['read']),
      expiresInMs: durationSchema({ min: 1, max: weekMs }).default(hourMs),
      ...(hasTenants ? { tenant: tenantPrincipalSchema.shape.tenant } : {}),
    }) as never
  }

  /** @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION */
  readonly sign = (task: TaskRef, options: TaskTokenOptions = {}): string => {
    const ref = parse(taskRefSchema, task, 'The task of a token')
    const { expiresInMs, ...rights } = parse(this.#optionsSchema, options, 'The options of a token')
    const principal: Principal = { ...rights, abilities, taskId: typeof ref === 'string' ? ref : ref.id }
    const content = JSON.stringify({ principal, expiresAt: this.#clock.now() + expiresInMs })
    const text = `${prefix}${Buffer.from(content).toString('base64url')}`
    return `${text}.${this.#signatureOf(text)}`
  }

  /**
   * The bearer of the request's token, and until when; undefined without a valid one. The parameter of the query is no field of the request, so
   * it is removed.
   */
  bearerOf({ headers, url, method }: ServedRequest): { principal: Principal; expiresAt: number } | undefined {
    const given = bearerIn(headers.get('authorization')) ?? (method === 'GET' ? url.searchParams.get(parameter) : null)
    const bearer = this.#read(given ?? '')
    if (bearer !== undefined) url.searchParams.delete(parameter)
    return bearer
  }

  #read(token: string): { principal: Principal; expiresAt: number } | undefined {
    if (!token.startsWith(prefix) || token.length > maxTokenLength) return undefined
    const [text = '', signature = ''] = token.split('.')
    if (!secretCheck(this.#signatureOf(text))(signature) || `${text}.${signature}` !== token) return undefined
    const content = contentSchema.parse(JSON.parse(Buffer.from(text.slice(prefix.length), 'base64url').toString()))
    // A handler of tenants may share its secret with one that has none.
    const principal = this.#principalSchema.safeParse(content.principal)
    if (!principal.success || content.expiresAt <= this.#clock.now()) return undefined
    return { principal: principal.data, expiresAt: content.expiresAt }
  }

  #signatureOf(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}

/** Whether a request tries a token in its query. */
export function hasQueryToken({ url }: Pick<ServedRequest, 'url'>): boolean {
  return url.searchParams.has(parameter)
}
