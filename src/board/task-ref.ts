// Which task is meant: its number on the board (3, "3", "#3"), or its id in the ledger.
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import type { BoardEntry, BoardRef } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { requireWithin } from '../steps/conditions.ts'
import type { BoardTarget } from './board-host.ts'

export interface Found {
  task: TaskRecord
  /** Undefined for a task that is not on this board. */
  entry: BoardEntry | undefined
}

/** Whether a caller may name a task, by whose it is. One that it may not name is as good as unknown. */
export type Naming = (caller: Caller, principal: string | undefined) => boolean

const numeric = /^#?([1-9]\d{0,14})$/

/** @throws ErrandError NOT_FOUND `Task 9 not found`; FORBIDDEN for a task that is not the caller's. */
export function* findOnBoard(tx: Reads, place: BoardTarget, ref: BoardRef, mayName: Naming = () => true): Op<Found> {
  const number = numberOf(ref)
  const named = number === undefined ? undefined : yield* tx.board.entry(place.board, number)
  const id = named?.taskId ?? (number === undefined ? String(ref) : undefined)
  const task = id === undefined ? undefined : yield* tx.task.get(id)
  if (task === undefined || task.deletedAt !== null || !mayName(place.caller, task.policy.principal))
    throw notFound(ref)
  if (place.caller.taskId !== undefined) yield* requireWithin(tx, place.caller.taskId, [task.id])
  return { task, entry: named ?? (yield* tx.board.entryOf(place.board, task.id)) }
}

/** Whether a task may be shown to the caller: one with a task sees what is below it. */
export function* isWithin(tx: Reads, { caller }: BoardTarget, id: string): Op<boolean> {
  if (caller.taskId === undefined || caller.taskId === id) return true
  return (yield* tx.task.ancestors(id)).some((above) => above.id === caller.taskId)
}

/** Several, in the order in which they were named, each once. */
export function* findAllOnBoard(
  tx: Reads,
  place: BoardTarget,
  refs: readonly BoardRef[],
  mayName?: Naming,
): Op<TaskRecord[]> {
  const found = new Map<string, TaskRecord>()
  for (const ref of refs) {
    const { task } = yield* findOnBoard(tx, place, ref, mayName)
    found.set(task.id, task)
  }
  return [...found.values()]
}

/** How people call it: by its number where it has one. */
export function shownRef({ task, entry }: Found): BoardRef {
  return entry?.number ?? task.id
}

/** What the board does not do with a task as it stands; `why` goes on after the name of the task. */
export function notAllowed(found: Found, event: string, why: string, allowed: string[] = []): ErrandError {
  const { id, status } = found.task
  const details = { taskId: id, from: status, event, allowed }
  return new ErrandError('INVALID_TRANSITION', `Task ${shownRef(found)} ${why}`, details)
}

/** The number that a reference says, as a number or as text. */
export function numberOf(ref: BoardRef): number | undefined {
  if (typeof ref === 'number') return ref
  const match = numeric.exec(ref.trim())
  return match === null ? undefined : Number(match[1])
}

function notFound(ref: BoardRef): ErrandError {
  return new ErrandError('NOT_FOUND', `Task ${String(ref).replace(/^#/, '')} not found`, { taskId: String(ref) })
}
