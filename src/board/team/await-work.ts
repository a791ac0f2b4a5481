// Waits for work for an agent that has none: mail, the next task, or neither.
import { z } from 'zod'
import type { Bus } from '../../bus/bus.ts'
import { type Duration, durationForms } from '../../core/duration.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { once } from '../../core/once.ts'
import { parse } from '../../core/parse.ts'
import type { BoardRef } from '../../entities/board.ts'
import type { AwaitedWork } from './wait-for-work.ts'

/** Options of `awaitWork`. */
export interface AwaitWorkOptions {
  /** Name of the agent: the reader of the inbox and owner of what is claimed. */
  as: string
  /** Role of the agent: it claims tasks for this role and for none. */
  role?: string
  /** Only tasks that have all of these. */
  tags?: string[]
  /** Only children of this task: its number on the board, or its id. */
  parent?: BoardRef
  /** Default `main`: all tasks of the ledger. */
  board?: string
  /** The claim expires after this many milliseconds without `board:heartbeat`. Default: never. */
  leaseMs?: Duration
  /** Directory or worktree bound to the task while it is in progress. */
  workspace?: string
  /** Changes of the ledger are noticed at once; the wait also checks at this interval, in milliseconds. Default 5,000. */
  pollMs?: Duration
  /** How long to wait, in milliseconds; `Infinity`: until something arrives. Default 60,000. */
  idleTimeoutMs?: Duration
  /** Ends the wait; nothing is claimed after it aborts. */
  signal?: AbortSignal
}

/** Maximum wait of one call of `board:wait`, in milliseconds. */
export const maxWaitMs = 600_000

/** Fields that the ability validates are passed on unchecked. */
const optionsSchema = once(() =>
  z.strictObject({
    as: z.unknown().optional(),
    role: z.unknown().optional(),
    tags: z.unknown().optional(),
    parent: z.unknown().optional(),
    board: z.unknown().optional(),
    leaseMs: z.unknown().optional(),
    workspace: z.unknown().optional(),
    pollMs: z.unknown().optional(),
    idleTimeoutMs: z
      .union(
        [durationSchema(), z.literal(Infinity)],
        `expected milliseconds, Infinity, or a duration like ${durationForms}`,
      )
      .default(60_000),
    signal: z.instanceof(AbortSignal).optional(),
  }),
)

/**
 * Waits for something to do: unread mail first (which is taken out of the inbox), else the best claimable task (which is claimed), else
 * `{ kind: 'idle' }` after `idleTimeoutMs`.
 *
 * @example
 * for (;;) {
 *   const work = await awaitWork(engine, { as: 'ada', role: 'coder' })
 *   if (work.kind === 'idle') break
 *   if (work.kind === 'mail') read(work.mail)
 *   else await doIt(work.task)
 * }
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION; NOT_FOUND for an unknown parent or board; ENGINE_CLOSED;
 *   EXECUTION_ERROR when the signal aborts.
 */
export async function awaitWork(engine: { bus: Bus }, options: AwaitWorkOptions): Promise<AwaitedWork> {
  const { idleTimeoutMs, signal, ...wanted } = parse(optionsSchema, options, 'awaitWork')
  for (let left = idleTimeoutMs; ; left -= maxWaitMs) {
    const input = { ...wanted, timeoutMs: Math.min(left, maxWaitMs) }
    const found = await engine.bus.call('board:wait' as string, input, signal === undefined ? {} : { signal })
    const work = found as AwaitedWork
    if (work.kind !== 'idle' || left <= maxWaitMs) return work
  }
}
