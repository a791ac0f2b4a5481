// A requested change of a task on the board: its fields, its writer, and whether they make sense together.
import { ErrandError } from '../core/errors.ts'
import type { BoardRef, BoardStatus } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { ClaimToken } from '../machines/ownership.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { BoardTarget } from './board-host.ts'

export interface BoardPatch {
  subject?: string | undefined
  description?: string | undefined
  /** null removes it; the same for `workspace`. */
  activeForm?: string | null | undefined
  status?: BoardStatus | undefined
  /** Who is to claim a pending task; '' or null for anyone. Has no effect where it names the current owner. */
  owner?: string | null | undefined
  priority?: number | undefined
  /** Merged key by key; null removes a key. */
  metadata?: Record<string, unknown> | undefined
  role?: string | null | undefined
  tags?: string[] | undefined
  addBlockedBy?: readonly BoardRef[] | undefined
  addBlocks?: readonly BoardRef[] | undefined
  removeBlockedBy?: readonly BoardRef[] | undefined
  removeBlocks?: readonly BoardRef[] | undefined
  workspace?: string | null | undefined
  /** Unknown keys of a file; replaces those stored before. */
  extra?: Record<string, unknown> | undefined
  /** With `status: 'completed'`: the result. */
  result?: unknown
  /** With status 'pending', 'failed' or 'deleted': the reason. */
  reason?: string | undefined
}

/** The writer. Without a name, a task is started by hand rather than claimed, and only tasks without an owner can be completed. */
export interface Writer {
  as?: string | undefined
  /** Number of the claim; required for a claim with a lease. */
  fence?: number | undefined
  role?: string | undefined
  leaseMs?: number | undefined
  source: string
}

/** A change of one task, with its writer and time. */
export interface Change {
  target: BoardTarget
  ref: BoardRef
  patch: BoardPatch
  writer: Writer
  ctx: StepContext
}

/** The claim token to check: none without a name, nor for an unowned task when no fence is given. */
export function claimTokenFor(task: TaskRecord, { as, fence }: Writer): ClaimToken | undefined {
  if (as === undefined || (task.owner === null && fence === undefined)) return undefined
  return { owner: as, ...(fence === undefined ? {} : { fence }) }
}

/** Whether the task is the writer's, or has no owner and the writer no name. A claim with a lease may be named without its fence. */
export function isOwnTask(task: TaskRecord, { as, fence }: Writer): boolean {
  return task.owner === (as ?? null) && (fence === undefined || fence === task.fence)
}

/** Rejects fields that would have no effect. */
export function refuseIgnoredFields({ status, result, reason }: BoardPatch, { as, fence }: Writer): void {
  if (result !== undefined && status !== 'completed') throw ignoredField('result', "set status 'completed' with it")
  if (reason !== undefined && (status === undefined || status === 'in_progress' || status === 'completed'))
    throw ignoredField('reason', "set status 'pending', 'failed' or 'deleted' with it")
  if (fence !== undefined && as === undefined) throw ignoredField('fence', 'name the owner of the claim with `as`')
}

function ignoredField(field: string, advice: string): ErrandError {
  return new ErrandError('INVALID_INPUT', `\`${field}\` has no effect here: ${advice}`, { field })
}
