// A member's session on a board: one name, its claims, and their heartbeats. It keeps owner, fence and lease for the agent behind it
// (a tool set, an MCP connection), so that the agent need not pass them.
import { z } from 'zod'
import type { Bus, InvokeOptions } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Duration } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { parse } from '../core/parse.ts'
import { type BoardRef, type BoardTask, mainBoard } from '../entities/board.ts'
import { HeldClaims, isOwner } from './held-claims.ts'

/** Options of `createBoardSession`. */
export interface BoardSessionOptions {
  /** The engine's: `engine.bus`. */
  bus: Pick<Bus, 'call' | 'get'>
  /** Name of the member, and owner of what it claims. Two sessions with the same name are the same member. */
  as: string
  /** Default role for claims. Default: none, so tasks for a role are not claimed. */
  role?: string | undefined
  /** Default board for calls. Default `main`. */
  board?: string | undefined
  /** How long the session may be silent before others may take its tasks, in milliseconds; null for claims that never expire. Default 60,000. */
  leaseMs?: Duration | null | undefined
  /** Recorded in the claim log. Default `session`. */
  surface?: string | undefined
  /** Default: the system clock. */
  clock?: Clock | undefined
}

const word = z.string().trim().min(1).max(100)
const optionsSchema = once(() =>
  z.strictObject({
    bus: z.custom<BoardSessionOptions['bus']>(
      (value) => typeof (value as Bus | null)?.call === 'function',
      'expected a bus: `engine.bus`',
    ),
    as: word,
    role: word.optional(),
    board: word.default(mainBoard),
    leaseMs: durationSchema({ min: 100 }).nullable().default(60_000),
    surface: word.default('session'),
    clock: z
      .custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function', 'expected a clock with `now`')
      .default(() => systemClock),
  }),
)

export interface BoardSession {
  readonly as: string
  /**
   * Invokes an ability in the member's name; `options` may add to the caller. Abilities of the board receive the fence of the
   * member's claim on the task, if it has one.
   */
  call(abilityId: string, input: unknown, options?: InvokeOptions): Promise<unknown>
  /** The claims that the session holds, as last returned by the board. */
  held(): ReadonlyArray<Pick<BoardTask, 'id' | 'taskId' | 'subject' | 'fence'>>
  /** Ends the heartbeats. Its claims stay valid until their leases end, so a member that returns in time keeps them. */
  close(): void
}

/** The field in which an ability takes the role of the caller; elsewhere `role` is that of the task. */
function rolesOf(abilityId: string): string[] {
  if (abilityId === 'board:update') return ['asRole']
  return ['board:claim', 'board:claim_next', 'board:wait'].includes(abilityId) ? ['role'] : []
}

/**
 * Opens a member's session on a board of an engine.
 *
 * @example
 * const session = createBoardSession({ bus: engine.bus, as: 'alice', leaseMs: 30_000 })
 * const { task } = await session.call('board:claim_next', {})
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION for bad options.
 */
export function createBoardSession(options: BoardSessionOptions): BoardSession {
  const { bus, as, role, board, leaseMs, surface, clock } = parse(optionsSchema, options, 'createBoardSession')
  const session: Caller = { surface, owner: as }
  const claims = new HeldClaims({ bus, board, leaseMs, clock })

  /** The fence of this member's claim on a task; includes a claim that an earlier session of the same member made. */
  async function fenceOf(ref: BoardRef, on: string, caller: Caller): Promise<number | undefined> {
    const known = claims.find(ref, on)
    if (known !== undefined) return known.fence
    try {
      const { task } = (await bus.call('board:get', { id: ref, board: on }, { caller })) as { task: BoardTask }
      if (!isOwner(caller, task) || task.status !== 'in_progress') return undefined
      claims.track({ task }, on, caller)
      return task.fence
    } catch {
      // The ability itself reports the problem, with a better message.
      return undefined
    }
  }

  /** Fills in what the session provides: board, role, lease and fence. */
  async function withDefaults(abilityId: string, input: unknown, caller: Caller): Promise<unknown> {
    const known = bus.get(abilityId)?.inputSchema.properties as Record<string, unknown> | undefined
    if (known === undefined || typeof input !== 'object' || input === null || Array.isArray(input)) return input
    const given = input as Record<string, unknown>
    const filled: Record<string, unknown> = { ...given }
    if ('board' in known && given.board === undefined) filled.board = board
    if ('as' in known) delete filled.as
    for (const name of rolesOf(abilityId)) if (role !== undefined && given[name] === undefined) filled[name] = role
    if ('leaseMs' in known && given.leaseMs === undefined && leaseMs !== null) filled.leaseMs = leaseMs
    const ref = given.id
    if ('fence' in known && given.fence === undefined && (typeof ref === 'string' || typeof ref === 'number')) {
      const fence = await fenceOf(ref, String(filled.board), caller)
      if (fence !== undefined && fence > 0) filled.fence = fence
    }
    return filled
  }

  return {
    as,
    async call(abilityId, input, invoke = {}) {
      const caller: Caller = { ...session, ...invoke.caller, owner: as }
      const invocation = { ...invoke, caller }
      if (!abilityId.startsWith('board:')) return bus.call(abilityId as string, input, invocation)
      // The session's own calls have the rights of the caller, even where the list of abilities offered to the caller lacks them.
      const { abilities: _offered, ...own } = caller
      const filled = await withDefaults(abilityId, input, own)
      try {
        const named = (filled as { board?: unknown } | null)?.board
        const on = typeof named === 'string' ? named : board
        const { onUndelivered } = invoke
        // A claim that is given back is not renewed any more.
        const tracked = (giveBack: () => Promise<unknown>) =>
          onUndelivered?.(async () => claims.track(await giveBack(), on, own))
        const result: unknown = await bus.call(abilityId as string, filled, {
          ...invocation,
          ...(onUndelivered === undefined ? {} : { onUndelivered: tracked }),
        })
        claims.track(result, on, own)
        return result
      } catch (error) {
        // The error has reported that the claim ended; later calls are judged without it.
        if (ErrandError.isInstance(error) && error.code === 'STALE_CLAIM') claims.drop(error)
        throw error
      }
    },
    held: () => claims.tasks().map(({ id, taskId, subject, fence }) => ({ id, taskId, subject, fence })),
    close: () => claims.close(),
  }
}
