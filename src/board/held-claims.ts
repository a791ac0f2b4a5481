// The claims that a session holds, and the heartbeats that keep them.
import type { Bus } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { BoardRef, BoardTask } from '../entities/board.ts'

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
export function isOwner({ taskId, owner }: Caller, task: BoardTask): boolean {
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

export class HeldClaims {
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
