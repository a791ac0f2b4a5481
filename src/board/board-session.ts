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

// The claims that a session holds, and the heartbeats that keep them.

/** Heartbeats per lease. */
const beatsPerLease = 3
/** Minimum interval of heartbeats, in milliseconds, however short a lease is. */
const minBeatMs = 20

const claimLostCodes = new Set(['STALE_CLAIM', 'NOT_OWNER', 'NOT_CLAIMABLE', 'NOT_FOUND', 'INVALID_TRANSITION'])

/** A claim of the member. */
interface HeldClaim {
  task: BoardTask
  /** The board on which the task has this number. */
  on: string
  /** The lease to renew, in milliseconds; null for a claim that does not expire. */
  leaseMs: number | null
  /** The claimant, in whose name the heartbeats are sent. */
  caller: Caller
}

/** A claim belongs to the task of its caller's credentials, if they name one, and else to the member. */
function isOwner({ taskId, owner }: Caller, task: BoardTask): boolean {
  return task.owner === (taskId ?? owner)
}

interface HeldClaimsOptions {
  bus: Pick<Bus, 'call'>
  /** Board of the heartbeats. */
  board: string
  /** Lease of claims that do not show theirs, and maximum of all; null: none. */
  leaseMs: number | null
  clock: Clock
}

class HeldClaims {
  readonly #options: HeldClaimsOptions
  readonly #claims = new Map<string, HeldClaim>()
  #timer: unknown
  #dueAt = Infinity
  #closed = false

  constructor(options: HeldClaimsOptions) {
    this.#options = options
  }

  tasks(): BoardTask[] {
    return Array.from(this.#claims.values(), ({ task }) => task)
  }

  find(ref: BoardRef, on: string): BoardTask | undefined {
    const text = String(ref).replace(/^#/, '')
    return [...this.#claims.values()].find(
      (claim) => claim.task.taskId === text || (claim.on === on && String(claim.task.id) === text),
    )?.task
  }

  /** Keeps a claim of the member as the board returned it, and drops one that has ended. */
  track(result: unknown, on: string, caller: Caller): void {
    const task = (result as { task?: BoardTask | null } | null)?.task
    if (task === undefined || task === null || typeof task.taskId !== 'string' || typeof task.fence !== 'number') return
    if (isOwner(caller, task) && task.status === 'in_progress') {
      const fallbackMs = this.#claims.get(task.taskId)?.leaseMs ?? this.#options.leaseMs
      this.#claims.set(task.taskId, { task, on, leaseMs: this.#leaseOf(task, fallbackMs), caller })
    } else this.#claims.delete(task.taskId)
    this.#scheduleBeat()
  }

  /** Drops the claim that an error names as lost. */
  drop({ details }: ErrandError): void {
    if (typeof details['taskId'] === 'string') this.#claims.delete(details['taskId'])
  }

  /** Ends the heartbeats. */
  close(): void {
    this.#closed = true
    this.#endTimer()
  }

  /** The shortest lease sets the interval, also one that was chosen by the call rather than by the session. */
  #scheduleBeat(): void {
    const { clock } = this.#options
    let minLeaseMs = Infinity
    for (const { leaseMs } of this.#claims.values()) minLeaseMs = Math.min(minLeaseMs, leaseMs ?? Infinity)
    const delayMs = Math.max(minLeaseMs / beatsPerLease, minBeatMs)
    const isScheduled = this.#timer !== undefined && this.#dueAt <= clock.now() + delayMs
    if (this.#closed || delayMs === Infinity || isScheduled) return
    this.#endTimer()
    this.#dueAt = clock.now() + delayMs
    this.#timer = clock.setTimeout(() => {
      this.#endTimer()
      void this.#beat().finally(() => this.#scheduleBeat())
    }, delayMs)
    // A heartbeat must not keep the process alive.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  #endTimer(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer as never)
    this.#timer = undefined
  }

  async #beat(): Promise<void> {
    const { bus, board } = this.#options
    for (const claim of this.#claims.values()) {
      const { caller } = claim
      const { taskId, fence } = claim.task
      // The claim may have ended, and another begun, while the call was in flight.
      const isCurrent = () => this.#claims.get(taskId) === claim
      try {
        const input = { id: taskId, fence, board }
        const { task } = (await bus.call('board:heartbeat', input, { caller })) as { task: BoardTask }
        if (isCurrent()) claim.leaseMs = this.#leaseOf(task, claim.leaseMs)
      } catch (error) {
        // Other errors (a busy ledger, say) may pass before the next heartbeat.
        const isLost = ErrandError.isInstance(error) && claimLostCodes.has(error.code)
        if (isLost && isCurrent()) this.#claims.delete(taskId)
      }
    }
  }

  /** The lease as far as the task shows it: less than its full length if the task was updated after the renewal; none for a resting task. */
  #leaseOf({ leaseUntil, updatedAt }: BoardTask, fallbackMs: number | null): number | null {
    return leaseUntil === null ? fallbackMs : Math.min(leaseUntil - updatedAt, this.#options.leaseMs ?? Infinity)
  }
}
