// Resolves references to tasks: a number on the board (3, "3", "#3") or an id in the ledger.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { BoardEntry, BoardRef } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { requireWithin } from '../operations/steps/conditions.ts'
import type { BoardTarget } from './board-host.ts'

export interface Found {
  task: TaskRecord
  /** Undefined for a task that is not on this board. */
  entry: BoardEntry | undefined
}

/** Whether a caller may name a task, given the task's principal. A task that it may not name is reported as not found. */
export type Naming = (caller: Caller, principal: string | null | undefined) => boolean

const numeric = /^#?([1-9]\d{0,14})$/

/**
 * Finds a task by its reference.
 * @throws ErrandError NOT_FOUND `Task 9 not found`; FORBIDDEN for a task outside the caller's own.
 */
export function* findOnBoard(tx: Reads, target: BoardTarget, ref: BoardRef, mayName: Naming = () => true): Op<Found> {
  const number = numberOf(ref)
  const named = number === undefined ? undefined : yield* tx.board.entry(target.board, number)
  const id = named?.taskId ?? (number === undefined ? String(ref) : undefined)
  const task = id === undefined ? undefined : yield* tx.task.get(id)
  if (task === undefined || task.deletedAt !== null || !mayName(target.caller, task.principal)) throw notFound(ref)
  if (target.caller.taskId !== undefined) yield* requireWithin(tx, target.caller.taskId, [task.id])
  return { task, entry: named ?? (yield* tx.board.entryOf(target.board, task.id)) }
}

/** Whether a task may be shown to the caller: a caller with a task sees that one and what is below it. */
export function* isWithin(tx: Reads, { caller }: BoardTarget, id: string): Op<boolean> {
  if (caller.taskId === undefined || caller.taskId === id) return true
  return (yield* tx.task.ancestors(id)).some((above) => above.id === caller.taskId)
}

/** Finds several tasks, in the order of the references, each once. */
export function* findAllOnBoard(
  tx: Reads,
  target: BoardTarget,
  refs: readonly BoardRef[],
  mayName?: Naming,
): Op<TaskRecord[]> {
  const found = new Map<string, TaskRecord>()
  for (const ref of refs) {
    const { task } = yield* findOnBoard(tx, target, ref, mayName)
    found.set(task.id, task)
  }
  return [...found.values()]
}

/** How a task is named in texts: by its number if it has one, else by its id. */
export function shownRef({ task, entry }: Found): BoardRef {
  return entry?.number ?? task.id
}

/** An INVALID_TRANSITION error; `why` completes the sentence "Task N …". */
export function notAllowed(found: Found, event: string, why: string, allowed: string[] = []): ErrandError {
  const { id, status } = found.task
  const details = { taskId: id, from: status, event, allowed }
  return new ErrandError('INVALID_TRANSITION', `Task ${shownRef(found)} ${why}`, details)
}

/** The number in a reference, given as a number or as text; undefined for an id. */
export function numberOf(ref: BoardRef): number | undefined {
  if (typeof ref === 'number') return ref
  const match = numeric.exec(ref.trim())
  return match === null ? undefined : Number(match[1])
}

function notFound(ref: BoardRef): ErrandError {
  return new ErrandError('NOT_FOUND', `Task ${String(ref).replace(/^#/, '')} not found`, { taskId: String(ref) })
}
