// The options of the MCP surface: offered abilities, credentials and limits. They are validated once.
import { z } from 'zod'
import type { InvokeOptions } from '../../bus/bus.ts'
import type { Clock } from '../../core/clock.ts'
import type { Duration } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { clockSchema, functionOf } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { abilityListSchema } from '../../entities/ability-pattern.ts'
import { type CreationBounds, creationBoundsSchema } from '../../entities/creation-bounds.ts'
import type { Authenticate } from '../web/principal.ts'
import {
  type ListenAddressOptions,
  listenAddressShape,
  onErrorSchema,
  type RequestGuardOptions,
  requestGuardShape,
  tokenSchema,
} from '../web/request-guard.ts'

/** The part of an engine that this surface uses. */
export type ServedEngine = Pick<Engine, 'bus' | 'get'>

/** Through which the calls of one agent reach the abilities. */
export interface AgentSession {
  /** Like `bus.call`. Pass `options`, which holds the caller and the signal, on to the bus. */
  call(abilityId: string, input: unknown, options: InvokeOptions): Promise<unknown>
  /** Called when the agent has disconnected. */
  close(): void | Promise<void>
}

export interface McpOptions {
  /**
   * The abilities offered as tools: ids, `module:*`, `*`, and the names of toolsets, `worker`, `lead` and `observer`. Abilities that are not
   * for models, that require confirmation by a person, or that stream are never offered. `plan:run` and
   * `schedules:put` with its relatives are offered only if their own ids are listed: clients then run plans and add schedules, and so run
   * commands. Default: `['worker']`.
   */
  abilities?: readonly string[] | undefined
  /**
   * The name of the calling agent: it owns the agent's claims on the board, which are renewed while it is connected. Default: none; the
   * client then passes a name with each claim.
   */
  as?: string
  /**
   * Limits for the tasks that clients create below each of their root tasks, or below the task that they add to: `maxTasks` in total,
   * `maxChildren` of one task, `maxDepth` levels. Agents that work there have the same limits. Default: `modelBounds`.
   */
  bounds?: Partial<CreationBounds>
  /**
   * Opens the session of an agent at its first call, on the engine that it reaches. Default: a session of the main board, with leases of
   * one minute.
   */
  session?: (agent: string, engine: ServedEngine) => AgentSession
  /** Maximum duration of one call of `task_wait`, in milliseconds; it then returns the current state. Default 30,000. */
  maxWaitMs?: Duration
  /** Interval of progress notifications for clients that request them, in milliseconds. Default 5000. */
  progressEveryMs?: Duration
  /** Default: the system clock. */
  clock?: Clock
  /** Receives errors that are not reported otherwise: refused requests, undelivered responses. Default: none. */
  onError?: (error: unknown) => void
}

export interface McpStdioOptions extends McpOptions {
  /** Default: the standard input and output of the process. Write nothing else to that output. */
  input?: NodeJS.ReadableStream
  output?: NodeJS.WritableStream
  /** Aborting it ends the serving. */
  signal?: AbortSignal
}

export interface McpFetchOptions extends McpOptions, RequestGuardOptions {
  /**
   * The token that clients send as `Authorization: Bearer …`, at least 32 characters. `false` allows every client. Set exactly one of this
   * and `authenticate`.
   */
  token?: string | false
  /**
   * Identifies the principal of a request without reading its body; null is answered with 401. The `owner` is the name of the agent;
   * without one the client chooses its name. If it throws or returns anything else, the response is a 500 and `onError` is called.
   */
  authenticate?: Authenticate
  /**
   * Maximum number of concurrent requests per principal (per address for principals without a name), subscriptions included; beyond it
   * 429. Default 256.
   */
  maxRequestsPerPrincipal?: number
  /** Closes the session of an agent after this many milliseconds without a call. Default 30 minutes. */
  sessionIdleMs?: Duration
}

export interface McpHttpOptions extends McpFetchOptions, ListenAddressOptions {}

/**
 * What an agent of each role needs: few tools with short schemas, because a model reads all of them in every conversation. A `worker` claims
 * and completes tasks of the board, a `lead` plans them and has tasks run, an `observer` only reads.
 */
export const toolsets = {
  worker: [
    'board:claim_next',
    'board:claim',
    'board:complete',
    'board:release',
    'board:update',
    'board:create',
    'board:list',
    'board:get',
    'board:why',
    'board:wait',
  ],
  lead: [
    'board:create',
    'board:update',
    'board:list',
    'board:get',
    'task:create',
    'task:get',
    'task:list',
    'task:wait',
    'task:answer',
    'task:cancel',
  ],
  observer: [
    'board:list',
    'board:get',
    'board:ready',
    'board:why',
    'board:log',
    'task:get',
    'task:list',
    'task:wait',
    'task:messages',
  ],
} as const satisfies Record<string, readonly string[]>

type ToolsetName = keyof typeof toolsets

const toolsetNames = Object.keys(toolsets) as [ToolsetName, ...ToolsetName[]]
const isToolset = (entry: string): entry is ToolsetName => Object.hasOwn(toolsets, entry)

/** The default of `abilities`. */
export const defaultAbilities: readonly string[] = ['worker']

/** Toolsets become their abilities; `brief` holds these, whose tools are listed without the schemas of their outputs. */
const offeredSchema = z
  .array(z.string())
  .default([...defaultAbilities])
  .transform((list, context) => {
    const brief = toolsetNames
      .filter((name) => list.includes(name))
      .flatMap((name): readonly string[] => toolsets[name])
    const named = abilityListSchema.safeParse(list.filter((entry) => !isToolset(entry)))
    if (named.success) return { all: [...named.data, ...brief], brief: new Set(brief) }
    for (const { path, message } of named.error.issues)
      context.addIssue({
        code: 'custom',
        path,
        message: `${message}, or one of the toolsets ${toolsetNames.join(', ')}`,
      })
    return z.NEVER
  })

/** A name that is valid in a header and in the ledger. */
export const agentNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._@:/-]{1,100}$/, 'expected a name of at most 100 letters, digits and . _ @ : / -')

const optionsSchema = z.strictObject({
  abilities: offeredSchema,
  as: agentNameSchema.optional(),
  bounds: creationBoundsSchema.optional(),
  session: functionOf<NonNullable<McpOptions['session']>>('(agent, engine) => session').optional(),
  maxWaitMs: durationSchema({ min: 1 }).default(30_000),
  progressEveryMs: durationSchema({ min: 1 }).default(5_000),
  clock: clockSchema,
  onError: onErrorSchema,
})

export const stdioOptionsSchema = optionsSchema.extend({
  input: z.custom<NodeJS.ReadableStream>(isStream, 'expected a stream to read').optional(),
  output: z.custom<NodeJS.WritableStream>(isStream, 'expected a stream to write').optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

const oneCheckExpected = { path: ['token'], message: 'expected exactly one of `token` and `authenticate`' }

const fetchSchema = optionsSchema.extend({
  token: tokenSchema.optional(),
  authenticate: functionOf<Authenticate>('(request) => principal or null').optional(),
  ...requestGuardShape,
  maxRequestsPerPrincipal: z.int().min(1).default(256),
  sessionIdleMs: durationSchema({ min: 1 }).default(30 * 60_000),
})

export const fetchOptionsSchema = fetchSchema.refine(oneCheck, oneCheckExpected)
export const httpOptionsSchema = fetchSchema.extend(listenAddressShape).refine(oneCheck, oneCheckExpected)

function oneCheck({ authenticate, token }: Pick<McpFetchOptions, 'authenticate' | 'token'>): boolean {
  return (authenticate === undefined) !== (token === undefined)
}

export type CheckedMcpOptions = z.output<typeof optionsSchema>
export type CheckedFetchOptions = z.output<typeof fetchOptionsSchema>

function isStream(value: unknown): boolean {
  return typeof (value as { on?: unknown } | null)?.on === 'function'
}
