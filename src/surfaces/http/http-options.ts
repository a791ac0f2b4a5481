// What the surface may be told: who may come in, under which names it is reached, and how much it takes. Checked once, at the door.
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { clockSchema, functionOf } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import { maxTasksPerRequest } from '../../entities/creation-bounds.ts'
import { maxBodyBytes } from '../../web/body.ts'
import type { Authenticate } from '../../web/principal.ts'
import {
  milliseconds,
  onErrorSchema,
  type RequestGuardOptions,
  requestGuardShape,
  tokenSchema,
} from '../../web/request-guard.ts'

/** What the surface needs of an engine. */
export type HttpEngine = Pick<Engine, 'bus'>

export interface HttpOptions extends RequestGuardOptions {
  /**
   * Who sends a request, whose body is left unread; null for somebody unknown, who is answered with 401. What it throws, and what is no
   * principal, is a 500 that `onError` is told of. Exactly one of this and `token` is given.
   */
  authenticate?: Authenticate
  /**
   * What clients must send as `Authorization: Bearer …`, at least 32 characters; whoever has it may do everything. `false`, in so
   * many words: whoever reaches the handler may do everything, because something in front of it has judged them.
   */
  token?: string | false
  /** Below which path clients reach it, like `/errand`. Default: none. */
  basePath?: string
  /** Largest body of a request, in bytes. Default 1 MiB. */
  bodyLimitBytes?: number
  /** Tasks that one request may create, with ten dependencies for each; more are answered with 409 LIMIT_EXCEEDED. Default 1,000. */
  maxTasksPerRequest?: number
  /** Streams that are open at once, of all principals together; one more is answered with 503. Default 256. */
  maxStreams?: number
  /** Streams of one principal (of one address, where principals have no names); one more is answered with 429. Default 16. */
  maxStreamsPerPrincipal?: number
  /** Requests of one principal, or address, that are being answered at once; one more is answered with 429. Default 256. */
  maxRequestsPerPrincipal?: number
  /** After so many milliseconds of silence a stream says that it lives. Default 15,000. */
  heartbeatMs?: number
  /** A stream whose client has taken nothing for so many milliseconds is ended. Default 30,000. */
  stallMs?: number
  /** Requests of one principal (of one address, where principals have no names). Default 100 a second, 200 at once; `false`: any number. */
  rateLimit?: { perSecond: number; burst: number } | false
  /** Gets what no client is told: what went wrong inside. Default: nobody. */
  onError?: (error: unknown) => void
  /** Default: the system's. */
  clock?: Clock
}

export const httpOptionsSchema = z
  .strictObject({
    authenticate: functionOf<Authenticate>('(request) => principal or null').optional(),
    token: tokenSchema.optional(),
    ...requestGuardShape,
    basePath: z
      .string()
      .regex(/^(?:\/[A-Za-z0-9._~-]+)*$/, 'expected a path like /errand, without a slash at its end')
      .max(500)
      .default(''),
    bodyLimitBytes: z.int().min(1).default(maxBodyBytes),
    maxTasksPerRequest: z.int().min(1).default(maxTasksPerRequest),
    maxStreams: z.int().min(1).default(256),
    maxStreamsPerPrincipal: z.int().min(1).default(16),
    maxRequestsPerPrincipal: z.int().min(1).default(256),
    heartbeatMs: milliseconds.default(15_000),
    stallMs: milliseconds.default(30_000),
    rateLimit: z
      .union([z.literal(false), z.strictObject({ perSecond: z.number().positive(), burst: z.number().min(1) })])
      .default({ perSecond: 100, burst: 200 }),
    onError: onErrorSchema,
    clock: clockSchema,
  })
  .refine(({ authenticate, token }) => (authenticate === undefined) !== (token === undefined), {
    path: ['token'],
    message: 'expected exactly one of `token` and `authenticate`',
  })

export type CheckedHttpOptions = z.output<typeof httpOptionsSchema>
