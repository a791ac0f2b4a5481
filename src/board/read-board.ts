// What is asked of a board: one task, a list, what may be claimed, why a task does not move, in which order all could be done.
import { z } from 'zod'
import {
  type BoardRef,
  type BoardStatus,
  type BoardTask,
  boardRefSchema,
  boardStatuses,
  boardStatusOf,
} from '../entities/board.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { explain } from '../steps/explain.ts'
import { graphOf } from '../steps/graph.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { eachOnBoard, isFreeToClaim, type Numbered, viewTask, viewTasks } from './board-view.ts'
import { textInNumbers } from './ids-as-numbers.ts'
import { loadBoard, readBoard } from './numbering.ts'
import { findOnBoard, shownRef } from './task-ref.ts'

/** Which tasks of a board are wanted. */
export interface BoardFilter {
  statuses?: readonly BoardStatus[] | undefined
  owner?: string | undefined
  role?: string | undefined
  /** All of them. */
  tags?: readonly string[] | undefined
  /** Its direct children. */
  parent?: BoardRef | undefined
  ready?: boolean | undefined
}

/** @throws ErrandError NOT_FOUND `Task 9 not found` */
export function getFromBoard(host: BoardHost, place: BoardTarget, ref: BoardRef): Promise<BoardTask> {
  return readBoard(host, place.board, function* (tx) {
    const { task, entry } = yield* findOnBoard(tx, place, ref)
    return yield* viewTask(tx, place.board, task, entry)
  })
}

/** The tasks that a filter finds: as many as were asked for, and how many there are. */
export interface BoardList {
  tasks: BoardTask[]
  total: number
}

/** By number. */
export function listBoard(
  host: BoardHost,
  place: BoardTarget,
  filter: BoardFilter = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<BoardList> {
  return readBoard(host, place.board, function* (tx) {
    const found: Numbered[] = []
    let total = 0
    yield* eachWanted(tx, place, filter, (row) => {
      total++
      if (found.length < limit) found.push(row)
    })
    return { tasks: yield* viewTasks(tx, place.board, found), total }
  })
}

/** Hands the tasks of the board to `see` that a filter finds, by number. */
function* eachWanted(tx: Reads, place: BoardTarget, filter: BoardFilter, see: (row: Numbered) => void): Op<void> {
  const { statuses, owner, role, tags = [], ready } = filter
  const parent = filter.parent === undefined ? undefined : (yield* findOnBoard(tx, place, filter.parent)).task
  const within: Array<ReadonlySet<string>> = []
  for (const root of yield* boundsOf(tx, place)) within.push(new Set(yield* tx.task.idsBelow(root)))
  const isWanted = (task: TaskRecord): boolean =>
    (statuses === undefined || statuses.includes(boardStatusOf(task))) &&
    (owner === undefined || (task.owner ?? '') === owner) &&
    (role === undefined || task.role === role) &&
    tags.every((tag) => task.tags.includes(tag)) &&
    (parent === undefined || task.parentId === parent.id) &&
    (ready === undefined || isFreeToClaim(task) === ready) &&
    within.every((ids) => ids.has(task.id))
  yield* eachOnBoard(tx, place.board, (row) => {
    if (isWanted(row.task)) see(row)
  })
}

/** Below which tasks all lie that the caller sees of the board. One that was moved from there keeps its number, and is not on it. */
function* boundsOf(tx: Reads, { board, caller }: BoardTarget): Op<string[]> {
  const { parentId } = yield* loadBoard(tx, board, 0)
  return [caller.taskId, parentId].filter((id) => id != null)
}

/** Pending, unowned, nothing in the way: by priority, then by number. */
export function readyOnBoard(
  host: BoardHost,
  place: BoardTarget,
  filter: Omit<BoardFilter, 'statuses' | 'ready'> = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<BoardList> {
  return readBoard(host, place.board, function* (tx) {
    const found: Numbered[] = []
    yield* eachWanted(tx, place, { ...filter, ready: true }, (row) => found.push(row))
    found.sort((a, b) => b.task.priority - a.task.priority || a.entry.number - b.entry.number)
    return { tasks: yield* viewTasks(tx, place.board, found.slice(0, limit)), total: found.length }
  })
}

/** Why a task does not move. */
export const whySchema = z.object({
  id: boardRefSchema,
  taskId: z.string(),
  status: z.enum(boardStatuses),
  /** As `engine.why` says it: `blocked`, `claim`, `running`, … */
  reason: z.string(),
  /** The same in a sentence. */
  message: z.string(),
  /** The tasks that it waits for. */
  blockedBy: z.array(boardRefSchema),
})

export function whyOnBoard(host: BoardHost, place: BoardTarget, ref: BoardRef): Promise<z.output<typeof whySchema>> {
  return readBoard(host, place.board, function* (tx) {
    const found = yield* findOnBoard(tx, place, ref)
    const { id: taskId } = found.task
    const why = yield* explain(tx, taskId, null)
    const blockers = (yield* tx.board.blockersOf(place.board, taskId)).filter((each) => each.open)
    return {
      id: shownRef(found),
      taskId,
      status: boardStatusOf(found.task),
      reason: why.reason,
      message: yield* textInNumbers(tx, place.board, why.message),
      blockedBy: blockers.map((each) => each.number ?? each.taskId),
    }
  })
}

/** The open tasks as a graph. */
export interface BoardGraph {
  /** Each after all that it comes after; among those that are free at once by priority, then age. */
  order: BoardTask[]
  /** Tasks that come after nobody and hold up others, most first. */
  critical: Array<{ id: BoardRef; holdsUp: number }>
}

export function graphOfBoard(host: BoardHost, place: BoardTarget): Promise<BoardGraph> {
  return readBoard(host, place.board, function* (tx) {
    const bounds = yield* boundsOf(tx, place)
    const within: Array<ReadonlySet<string>> = []
    for (const root of bounds) {
      // Nothing is left of a board whose task was deleted.
      if ((yield* tx.task.get(root))?.deletedAt !== null) return { order: [], critical: [] }
      within.push(new Set(yield* tx.task.idsBelow(root)))
    }
    const graph = yield* graphOf(tx, bounds[0])
    const order: Numbered[] = []
    for (const task of graph.order) {
      const entry = yield* tx.board.entryOf(place.board, task.id)
      if (entry !== undefined && within.every((ids) => ids.has(task.id))) order.push({ task, entry })
    }
    const numbers = new Map(order.map(({ task, entry }) => [task.id, entry.number]))
    return {
      order: yield* viewTasks(tx, place.board, order),
      critical: graph.critical.map(({ taskId, holdsUp }) => ({ id: numbers.get(taskId) ?? taskId, holdsUp })),
    }
  })
}

/** A line of the claim log: who took a task, or let go of it, and when. */
export const claimLogSchema = z.object({
  at: z.number(),
  id: boardRefSchema,
  taskId: z.string(),
  event: z.enum(['claimed', 'released']),
  owner: z.string(),
  role: z.string().nullable(),
  /** Which surface it came by. */
  source: z.string().nullable(),
  fence: z.number().nullable(),
  reason: z.string().nullable(),
})
type ClaimLogLine = z.output<typeof claimLogSchema>

/** The claims of a task, oldest first. */
export function claimLogOf(host: BoardHost, place: BoardTarget, ref: BoardRef): Promise<ClaimLogLine[]> {
  return readBoard(host, place.board, function* (tx) {
    const found = yield* findOnBoard(tx, place, ref)
    const claims = yield* everyRow(
      (after, limit) => tx.event.after(after, limit, found.task.id),
      ({ type }) => type === 'task.claimed' || type === 'task.released',
    )
    return claims.map((event) => toLogLine(event, shownRef(found)))
  })
}

function toLogLine({ type, taskId, at, data }: TaskEvent, id: BoardRef): ClaimLogLine {
  const said = data as Record<'owner' | 'role' | 'source' | 'reason', string | null> & { fence?: number }
  return {
    at,
    id,
    taskId,
    event: type === 'task.claimed' ? 'claimed' : 'released',
    owner: said.owner ?? '',
    role: said.role ?? null,
    source: said.source ?? null,
    fence: said.fence ?? null,
    reason: said.reason ?? null,
  }
}
