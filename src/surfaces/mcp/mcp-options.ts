// What a surface of the protocol may be told: which abilities it offers, to whom, and how it is guarded. Checked once, at the door.
import { z } from 'zod'
import type { InvokeOptions } from '../../bus/bus.ts'
import type { Clock } from '../../core/clock.ts'
import { clockSchema, functionOf } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import { abilityListSchema } from '../../entities/ability-pattern.ts'
import { type CreationBounds, creationBoundsSchema } from '../../entities/creation-bounds.ts'
import type { Authenticate } from '../../web/principal.ts'
import {
  type ListenAddressOptions,
  listenAddressShape,
  milliseconds,
  onErrorSchema,
  type RequestGuardOptions,
  requestGuardShape,
  tokenSchema,
} from '../../web/request-guard.ts'

/** What the surface needs of an engine. */
export type ServedEngine = Pick<Engine, 'bus' | 'get'>

/** The way in which the calls of one agent reach the abilities. */
export interface AgentSession {
  /** Like `bus.call`. `options` holds the caller and the signal, and must reach the bus. */
  call(abilityId: string, input: unknown, options: InvokeOptions): Promise<unknown>
  /** The agent is gone. */
  close(): void | Promise<void>
}

export interface McpOptions {
  /**
   * The abilities that become tools: ids, `module:*`, `*`. Never those that are not for models, that want a person's consent, or
   * that stream. `plan:run` is one only where its own id stands here: clients then run plans, and so commands. Default: `board:*` and what an agent needs of `task:*` (create, get, list, wait, answer, cancel, send, messages).
   */
  abilities?: readonly string[] | undefined
  /**
   * The name of the agent that calls: it owns what it claims on the board, and its claims are kept alive while it is connected.
   * Default: none; such a client says who it is with each claim.
   */
  as?: string
  /**
   * How many tasks clients may create below each root that they create, or below the task that they add to: `maxTasks` in all, `maxChildren`
   * of one task, on `maxDepth` levels. Agents that work there keep within the same numbers. Default: `modelBounds`.
   */
  bounds?: Partial<CreationBounds>
  /**
   * Opens the session of an agent on the engine that it reaches, at its first call. Default: a session of the main board, with leases of
   * a minute.
   */
  session?: (agent: string, engine: ServedEngine) => AgentSession
  /** Longest that one call of `task_wait` takes, in milliseconds; it then says how things stand. Default 30,000. */
  maxWaitMs?: number
  /** How often a client that asked for it hears that a call is going on, in milliseconds. Default 5000. */
  progressEveryMs?: number
  /** Default: the system's. */
  clock?: Clock
  /** Gets what nobody else hears of: refused requests, answers that did not reach their client. Default: nobody. */
  onError?: (error: unknown) => void
}

export interface McpStdioOptions extends McpOptions {
  /** Default: the standard input and output of the process. Nothing else may be written to that output. */
  input?: NodeJS.ReadableStream
  output?: NodeJS.WritableStream
  /** Ends the serving. */
  signal?: AbortSignal
}

export interface McpFetchOptions extends McpOptions, RequestGuardOptions {
  /**
   * What clients must send as `Authorization: Bearer …`, at least 32 characters. `false`, in so many words: everybody may call. Exactly
   * one of this and `authenticate` is given.
   */
  token?: string | false
  /**
   * Who sends a request, whose body is left unread; null for somebody unknown, who is answered with 401. Its `owner` is the name of the
   * agent; without one that is what the client says. What it throws, and what is no principal, is a 500 that `onError` is told of.
   */
  authenticate?: Authenticate
  /** Requests of one principal (of one address, where principals have no names) at once, subscriptions among them; one more is answered with 429. Default 256. */
  maxRequestsPerPrincipal?: number
  /** After so many milliseconds without a call the session of an agent is closed. Default 30 minutes. */
  sessionIdleMs?: number
}

export interface McpHttpOptions extends McpFetchOptions, ListenAddressOptions {}

/** The default of `abilities`: what agents need that drive tasks or share a board. */
export const defaultAbilities: readonly string[] = [
  'board:*',
  'task:create',
  'task:get',
  'task:list',
  'task:wait',
  'task:answer',
  'task:cancel',
  'task:send',
  'task:messages',
]

/** A name as it may stand in a header and in the ledger. */
export const agentNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._@:/-]{1,100}$/, 'expected a name of at most 100 letters, digits and . _ @ : / -')

const optionsSchema = z.strictObject({
  abilities: abilityListSchema.default([...defaultAbilities]),
  as: agentNameSchema.optional(),
  bounds: creationBoundsSchema.optional(),
  session: functionOf<NonNullable<McpOptions['session']>>('(agent, engine) => session').optional(),
  maxWaitMs: milliseconds.default(30_000),
  progressEveryMs: milliseconds.default(5_000),
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
  sessionIdleMs: milliseconds.default(30 * 60_000),
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
