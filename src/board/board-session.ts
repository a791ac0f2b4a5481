// A member of the team at work: one name, the claims that it holds, and their signs of life. Whoever speaks for an agent (a tool
// set, an MCP connection) holds owner, fence and lease here, so that the agent itself need know of none of them.
import { z } from 'zod'
import type { Bus, InvokeOptions } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { type BoardRef, type BoardTask, mainBoard } from '../entities/board.ts'

/** Options of `createBoardSession`. */
export interface BoardSessionOptions {
  /** That of the engine: `engine.bus`. */
  bus: Pick<Bus, 'call' | 'get'>
  /** Name of the member: owner of what it claims. Two sessions of one name are one member. */
  as: string
  /** Role that it has, where a claim does not say. Default: none, so tasks of a role are not for it. */
  role?: string | undefined
  /** Which board, where a call does not say. Default main. */
  board?: string | undefined
  /** How long it may be silent before others may take its tasks, in milliseconds; null for claims that never lapse. Default 60,000. */
  leaseMs?: number | null | undefined
  /** Named in the claim log. Default `session`. */
  surface?: string | undefined
  /** Default: the system's. */
  clock?: Clock | undefined
}

const word = z.string().trim().min(1).max(100)
const optionsSchema = z.strictObject({
  bus: z.custom<BoardSessionOptions['bus']>(
    (value) => typeof (value as Bus | null)?.call === 'function',
    'expected a bus: `engine.bus`',
  ),
  as: word,
  role: word.optional(),
  board: word.default(mainBoard),
  leaseMs: z.number().min(100).max(8.64e15).nullable().default(60_000),
  surface: word.default('session'),
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function', 'expected a clock with `now`')
    .default(() => systemClock),
})

export interface BoardSession {
  readonly as: string
  /** Invokes an ability in the member's name, by the caller that `options` may say more of; for those of the board with the number of its claim, where it has one. */
  call(abilityId: string, input: unknown, options?: InvokeOptions): Promise<unknown>
  /** The claims that it holds now, as it last saw them. */
  held(): ReadonlyArray<Pick<BoardTask, 'id' | 'taskId' | 'subject' | 'fence'>>
  /** No more signs of life. What it holds stays its own until the lease is over: whoever comes back in time goes on. */
  close(): void
}

/** Signs of life in the time of a lease. */
const beatsPerLease = 3
/** However short a lease is, in milliseconds. */
const minBeatMs = 20

/** A claim of the member's. */
interface Hold {
  task: BoardTask
  /** The board on which the task has its number. */
  on: string
  /** The lease that has to be kept, in milliseconds; null for a claim that does not lapse. */
  leaseMs: number | null
  /** Who claimed it: the signs of life reach no further. */
  caller: Caller
}
const codesOfLoss = new Set(['STALE_CLAIM', 'NOT_OWNER', 'NOT_CLAIMABLE', 'NOT_FOUND', 'INVALID_TRANSITION'])

/** Whose credentials name a task claims in the name of that task. */
function isOwner({ taskId, owner }: Caller, task: BoardTask): boolean {
  return task.owner === (taskId ?? owner)
}

/** Where an ability takes the role of who acts; elsewhere a role is that of a task. */
function rolesOf(abilityId: string): string[] {
  if (abilityId === 'board:update') return ['asRole']
  return ['board:claim', 'board:claim_next', 'board:wait'].includes(abilityId) ? ['role'] : []
}

/**
 * A member's session on the board of an engine.
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
  const holds = new Map<string, Hold>()
  let timer: unknown
  let dueAt = Infinity
  let closed = false

  /** As often as the shortest of the leases needs it, whoever chose that. */
  function beatLater(): void {
    const leases = Array.from(holds.values(), (hold) => hold.leaseMs ?? Infinity)
    const wantedMs = Math.max(Math.min(...leases) / beatsPerLease, minBeatMs)
    if (closed || wantedMs === Infinity || (timer !== undefined && dueAt <= clock.now() + wantedMs)) return
    endTimer()
    dueAt = clock.now() + wantedMs
    timer = clock.setTimeout(() => {
      endTimer()
      void beat().finally(beatLater)
    }, wantedMs)
    // A claim is no reason for a program to stay.
    ;(timer as { unref?: () => void }).unref?.()
  }

  function endTimer(): void {
    if (timer !== undefined) clock.clearTimeout(timer as never)
    timer = undefined
  }

  async function beat(): Promise<void> {
    for (const hold of holds.values()) {
      const { taskId, fence } = hold.task
      // A claim may have ended, and another begun, while the answer was on its way.
      const isCurrent = () => holds.get(taskId) === hold
      try {
        const input = { id: taskId, fence, board }
        const { task } = (await bus.call('board:heartbeat', input, { caller: hold.caller })) as { task: BoardTask }
        if (isCurrent()) hold.leaseMs = leaseOf(task, hold.leaseMs)
      } catch (error) {
        // Anything else (a busy ledger, say) may be better by the next beat.
        const isLost = ErrandError.isInstance(error) && codesOfLoss.has(error.code)
        if (isLost && isCurrent()) holds.delete(taskId)
      }
    }
  }

  /** What is left of a lease since it was renewed, or less: another word on the task may have come later. A task that rests has none. */
  function leaseOf({ leaseUntil, updatedAt }: BoardTask, usually: number | null): number | null {
    return leaseUntil === null ? usually : Math.min(leaseUntil - updatedAt, leaseMs ?? Infinity)
  }

  function forget({ details }: ErrandError): void {
    if (typeof details['taskId'] === 'string') holds.delete(details['taskId'])
  }

  /** A task as it came back: a claim of ours is kept, one that has ended is forgotten. */
  function notice(result: unknown, on: string, caller: Caller): void {
    const task = (result as { task?: BoardTask | null } | null)?.task
    if (task === undefined || task === null || typeof task.taskId !== 'string' || typeof task.fence !== 'number') return
    if (isOwner(caller, task) && task.status === 'in_progress') {
      const usually = holds.get(task.taskId)?.leaseMs ?? leaseMs
      holds.set(task.taskId, { task, on, leaseMs: leaseOf(task, usually), caller })
    } else holds.delete(task.taskId)
    beatLater()
  }

  /** The number of the claim that it has on a task; a claim that the same member made earlier is taken up. */
  async function fenceOf(ref: BoardRef, on: string, caller: Caller): Promise<number | undefined> {
    const text = String(ref).replace(/^#/, '')
    const known = [...holds.values()].find(
      (hold) => hold.task.taskId === text || (hold.on === on && String(hold.task.id) === text),
    )
    if (known !== undefined) return known.task.fence
    try {
      const { task } = (await bus.call('board:get', { id: ref, board: on }, { caller })) as { task: BoardTask }
      if (!isOwner(caller, task) || task.status !== 'in_progress') return undefined
      notice({ task }, on, caller)
      return task.fence
    } catch {
      // The ability itself says what is wrong with it, and better.
      return undefined
    }
  }

  async function complete(abilityId: string, input: unknown, caller: Caller): Promise<unknown> {
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
      // What the session does by itself is as near as what it was asked for, though the caller may not be offered the abilities for it.
      const { abilities: _offered, ...own } = caller
      const filled = await complete(abilityId, input, own)
      try {
        const result: unknown = await bus.call(abilityId as string, filled, invocation)
        const named = (filled as { board?: unknown } | null)?.board
        notice(result, typeof named === 'string' ? named : board, own)
        return result
      } catch (error) {
        // It has been told that the claim is over; what it says next is judged by what is true then.
        if (ErrandError.isInstance(error) && error.code === 'STALE_CLAIM') forget(error)
        throw error
      }
    },
    held: () =>
      Array.from(holds.values(), ({ task: { id, taskId, subject, fence } }) => ({ id, taskId, subject, fence })),
    close() {
      closed = true
      endTimer()
    },
  }
}
