// For the loop of an agent that has nothing to do: mail, the next task, or the news that there is none.
import { z } from 'zod'
import type { Bus } from '../../bus/bus.ts'
import { parse } from '../../core/parse.ts'
import type { BoardRef } from '../../entities/board.ts'
import type { AwaitedWork } from './wait-for-work.ts'

/** Options of `awaitWork`. */
export interface AwaitWorkOptions {
  /** Name of the agent: whose inbox it is, and the owner of what is claimed. */
  as: string
  /** Role that it has: tasks for this role and for none. */
  role?: string
  /** Only tasks with all of these. */
  tags?: string[]
  /** Only the parts of this task: its number on the board, or its id. */
  parent?: BoardRef
  /** Default `main`: all tasks of the ledger. */
  board?: string
  /** The claim lapses after so many milliseconds without a sign of life (`board:heartbeat`). Default: never. */
  leaseMs?: number
  /** Directory or worktree that is bound to the task while it is in progress. */
  workspace?: string
  /** What changes on the ledger wakes it at once; beside that it looks so often, in milliseconds. Default 5,000. */
  pollMs?: number
  /** How long it waits, in milliseconds; `Infinity`: until something comes. Default 60,000. */
  idleTimeoutMs?: number
  /** Waits no longer when it aborts, and then claims nothing. */
  signal?: AbortSignal
}

/** Longest wait of one call of `board:wait`, in milliseconds. */
export const maxWaitMs = 600_000

/** What is the ability's to judge is passed on as it is. */
const optionsSchema = z.strictObject({
  as: z.unknown().optional(),
  role: z.unknown().optional(),
  tags: z.unknown().optional(),
  parent: z.unknown().optional(),
  board: z.unknown().optional(),
  leaseMs: z.unknown().optional(),
  workspace: z.unknown().optional(),
  pollMs: z.unknown().optional(),
  idleTimeoutMs: z.union([z.number().min(0), z.literal(Infinity)]).default(60_000),
  signal: z.instanceof(AbortSignal).optional(),
})

/**
 * Waits for something to do: unread mail first (taken out of the inbox), else the best task that may be claimed (claimed), else,
 * after `idleTimeoutMs` with neither, `{ kind: 'idle' }`.
 *
 * @example
 * for (;;) {
 *   const work = await awaitWork(engine, { as: 'ada', role: 'coder' })
 *   if (work.kind === 'idle') break
 *   if (work.kind === 'mail') read(work.mail)
 *   else await doIt(work.task)
 * }
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION; NOT_FOUND for a parent or a board that is not there; ENGINE_CLOSED;
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
