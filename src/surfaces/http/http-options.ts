// The options of `createHttp`: credentials, hosts, limits. They are validated once.
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { clockSchema, functionOf } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { maxTasksPerRequest } from '../../entities/creation-bounds.ts'
import { maxBodyBytes } from '../web/body.ts'
import type { Authenticate } from '../web/principal.ts'
import { onErrorSchema, type RequestGuardOptions, requestGuardShape, tokenSchema } from '../web/request-guard.ts'

/** The part of an engine that this surface uses. */
export type HttpEngine = Pick<Engine, 'bus'>

export interface HttpOptions extends RequestGuardOptions {
  /**
   * Identifies the principal of a request without reading its body; null is answered with 401. If it throws or returns anything else, the
   * response is a 500 and `onError` is called. Set exactly one of this and `token`.
   */
  authenticate?: Authenticate
  /**
   * The token that clients send as `Authorization: Bearer …`, at least 32 characters; it grants every right. With `false` every request
   * has every right: use it only behind a server that authenticates requests.
   */
  token?: string | false
  /**
   * Signs the tokens for one task that the handler makes (`http.token`): at least 32 characters. With the same secret they stay valid after a
   * restart and at other servers. Default: random.
   */
  tokenSecret?: string
  /** The path prefix of the routes, like `/errand`. Default: none. */
  basePath?: string
  /**
   * Serves the page to watch and control the engine at the base path, beside the routes. A browser without valid credentials gets a field for
   * the token there. Default false.
   */
  page?: boolean
  /** Maximum size of a request body, in bytes. Default 1 MiB. */
  bodyLimitBytes?: number
  /** Maximum number of tasks created by one request, with ten dependencies for each; beyond it 409 LIMIT_EXCEEDED. Default 1,000. */
  maxTasksPerRequest?: number
  /** Maximum number of open streams in total; beyond it 503. Default 256. */
  maxStreams?: number
  /** Maximum number of open streams per principal (per address for principals without a name); beyond it 429. Default 16. */
  maxStreamsPerPrincipal?: number
  /** Maximum number of concurrent requests per principal or address; beyond it 429. Default 256. */
  maxRequestsPerPrincipal?: number
  /** A stream without events sends a comment after this many milliseconds. Default 15,000. */
  heartbeatMs?: Duration
  /** Ends a stream whose client has read nothing for this many milliseconds. Default 30,000. */
  stallMs?: Duration
  /** Rate limit per principal (per address for principals without a name). Default 100 a second with bursts of 200; `false`: no limit. */
  rateLimit?: { perSecond: number; burst: number } | false
  /** Receives internal errors, which are not sent to clients. Default: none. */
  onError?: (error: unknown) => void
  /** Default: the system clock. */
  clock?: Clock
}

export const httpOptionsSchema = z
  .strictObject({
    authenticate: functionOf<Authenticate>('(request) => principal or null').optional(),
    token: tokenSchema.optional(),
    tokenSecret: z.string().min(32, 'expected at least 32 characters').optional(),
    ...requestGuardShape,
    basePath: z
      .string()
      .regex(/^(?:\/[A-Za-z0-9._~-]+)*$/, 'expected a path like /errand, without a trailing slash')
      .max(500)
      .default(''),
    page: z.boolean().default(false),
    bodyLimitBytes: z.int().min(1).default(maxBodyBytes),
    maxTasksPerRequest: z.int().min(1).default(maxTasksPerRequest),
    maxStreams: z.int().min(1).default(256),
    maxStreamsPerPrincipal: z.int().min(1).default(16),
    maxRequestsPerPrincipal: z.int().min(1).default(256),
    heartbeatMs: durationSchema({ min: 1 }).default(15_000),
    stallMs: durationSchema({ min: 1 }).default(30_000),
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
