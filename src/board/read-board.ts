// Queries of a board: a task, a list, claimable tasks, why a task does not move, the graph, the claim log.
import { z } from 'zod'
import { once } from '../core/once.ts'
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
import { explain } from '../operations/steps/explain.ts'
import { graphOf } from '../operations/steps/graph.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'
import { forEachOnBoard, isFreeToClaim, type Numbered, viewTask, viewTasks } from './board-view.ts'
import { textWithNumbers } from './ids-as-numbers.ts'
import { loadBoard, readBoard } from './numbering.ts'
import { findOnBoard, shownRef } from './task-ref.ts'

/** Which tasks of a board to return. */
export interface BoardFilter {
  statuses?: readonly BoardStatus[] | undefined
  owner?: string | undefined
  role?: string | undefined
  /** Tasks that have all of these. */
  tags?: readonly string[] | undefined
  /** Direct children of this task. */
  parent?: BoardRef | undefined
  ready?: boolean | undefined
}

/** Returns a task. @throws ErrandError NOT_FOUND `Task 9 not found` */
export function getFromBoard(host: BoardHost, target: BoardTarget, ref: BoardRef): Promise<BoardTask> {
  return readBoard(host, target.board, function* (tx) {
    const { task, entry } = yield* findOnBoard(tx, target, ref)
    return yield* viewTask(tx, target.board, task, entry)
  })
}

/** The first tasks that match a filter, up to the limit, and the total number of matches. */
export interface BoardList {
  tasks: BoardTask[]
  total: number
}

/** Lists tasks by number. */
export function listBoard(
  host: BoardHost,
  target: BoardTarget,
  filter: BoardFilter = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<BoardList> {
  return readBoard(host, target.board, function* (tx) {
    const found: Numbered[] = []
    let total = 0
    yield* forEachMatching(tx, target, filter, (row) => {
      total++
      if (found.length < limit) found.push(row)
    })
    return { tasks: yield* viewTasks(tx, target.board, found), total }
  })
}

/** Calls `see` for each task of the board that matches the filter, by number. */
function* forEachMatching(tx: Reads, target: BoardTarget, filter: BoardFilter, see: (row: Numbered) => void): Op<void> {
  const { statuses, owner, role, tags = [], ready } = filter
  const parent = filter.parent === undefined ? undefined : (yield* findOnBoard(tx, target, filter.parent)).task
  const within: Array<ReadonlySet<string>> = []
  for (const root of yield* boundsOf(tx, target)) within.push(new Set(yield* tx.task.idsBelow(root)))
  const matches = (task: TaskRecord): boolean =>
    (statuses === undefined || statuses.includes(boardStatusOf(task))) &&
    (owner === undefined || (task.owner ?? '') === owner) &&
    (role === undefined || task.role === role) &&
    tags.every((tag) => task.tags.includes(tag)) &&
    (parent === undefined || task.parentId === parent.id) &&
    (ready === undefined || isFreeToClaim(task) === ready) &&
    within.every((ids) => ids.has(task.id))
  yield* forEachOnBoard(tx, target.board, (row) => {
    if (matches(row.task)) see(row)
  })
}

/** The tasks below which all visible tasks of the board lie. A task that was moved out keeps its number and is no longer on the board. */
function* boundsOf(tx: Reads, { board, caller }: BoardTarget): Op<string[]> {
  const { parentId } = yield* loadBoard(tx, board, 0)
  return [caller.taskId, parentId].filter((id) => id != null)
}

/** Lists tasks that can be claimed (pending, unowned, not blocked), by priority, then by number. */
export function readyOnBoard(
  host: BoardHost,
  target: BoardTarget,
  filter: Omit<BoardFilter, 'statuses' | 'ready'> = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<BoardList> {
  return readBoard(host, target.board, function* (tx) {
    const found: Numbered[] = []
    yield* forEachMatching(tx, target, { ...filter, ready: true }, (row) => found.push(row))
    found.sort((a, b) => b.task.priority - a.task.priority || a.entry.number - b.entry.number)
    return { tasks: yield* viewTasks(tx, target.board, found.slice(0, limit)), total: found.length }
  })
}

/** Why a task does not move. */
export const whySchema = once(() =>
  z.object({
    id: boardRefSchema,
    taskId: z.string(),
    status: z.enum(boardStatuses),
    /** As returned by `engine.why`: `blocked`, `claim`, `running`, … */
    reason: z.string(),
    /** The reason as a sentence. */
    message: z.string(),
    /** The tasks that it waits for. */
    blockedBy: z.array(boardRefSchema),
  }),
)

export async function whyOnBoard(
  host: BoardHost,
  target: BoardTarget,
  ref: BoardRef,
): Promise<z.output<ReturnType<typeof whySchema>>> {
  const lost = await host.lostRuns()
  return readBoard(host, target.board, function* (tx) {
    const found = yield* findOnBoard(tx, target, ref)
    const { id: taskId } = found.task
    const why = yield* explain(tx, taskId, null, lost)
    const blockers = (yield* tx.board.blockersOf(target.board, taskId)).filter((each) => each.open)
    return {
      id: shownRef(found),
      taskId,
      status: boardStatusOf(found.task),
      reason: why.reason,
      message: yield* textWithNumbers(tx, target.board, why.message),
      blockedBy: blockers.map((each) => each.number ?? each.taskId),
    }
  })
}

/** The open tasks as a graph. */
export interface BoardGraph {
  /** Each task after its blockers; otherwise by priority, then age. */
  order: BoardTask[]
  /** Unblocked tasks that hold up others, those that hold up most first. */
  critical: Array<{ id: BoardRef; holdsUp: number }>
}

export function graphOfBoard(host: BoardHost, target: BoardTarget): Promise<BoardGraph> {
  return readBoard(host, target.board, function* (tx) {
    const bounds = yield* boundsOf(tx, target)
    const within: Array<ReadonlySet<string>> = []
    for (const root of bounds) {
      // A board whose task was deleted is empty.
      if ((yield* tx.task.get(root))?.deletedAt !== null) return { order: [], critical: [] }
      within.push(new Set(yield* tx.task.idsBelow(root)))
    }
    const graph = yield* graphOf(tx, bounds[0])
    const order: Numbered[] = []
    for (const task of graph.order) {
      const entry = yield* tx.board.entryOf(target.board, task.id)
      if (entry === undefined || !within.every((ids) => ids.has(task.id))) continue
      order.push({ task: (yield* tx.task.get(task.id)) as TaskRecord, entry })
    }
    const numbers = new Map(order.map(({ task, entry }) => [task.id, entry.number]))
    return {
      order: yield* viewTasks(tx, target.board, order),
      critical: graph.critical.map(({ taskId, holdsUp }) => ({ id: numbers.get(taskId) ?? taskId, holdsUp })),
    }
  })
}

/** A line of the claim log: who claimed or released the task, and when. */
export const claimLogSchema = once(() =>
  z.object({
    at: z.number(),
    id: boardRefSchema,
    taskId: z.string(),
    event: z.enum(['claimed', 'released']),
    owner: z.string(),
    role: z.string().nullable(),
    /** The surface of the claim. */
    source: z.string().nullable(),
    fence: z.number().nullable(),
    reason: z.string().nullable(),
  }),
)
type ClaimLogLine = z.output<ReturnType<typeof claimLogSchema>>

/** Returns the claims and releases of a task, oldest first. */
export function claimLogOf(host: BoardHost, target: BoardTarget, ref: BoardRef): Promise<ClaimLogLine[]> {
  return readBoard(host, target.board, function* (tx) {
    const found = yield* findOnBoard(tx, target, ref)
    const claims = yield* everyRow(
      (after, limit) => tx.event.after(after, limit, found.task.id),
      ({ type }) => type === 'task.claimed' || type === 'task.released',
    )
    return claims.map((event) => toLogLine(event, shownRef(found)))
  })
}

function toLogLine({ type, taskId, at, data }: TaskEvent, id: BoardRef): ClaimLogLine {
  const fields = data as Record<'owner' | 'role' | 'source' | 'reason', string | null> & { fence?: number }
  return {
    at,
    id,
    taskId,
    event: type === 'task.claimed' ? 'claimed' : 'released',
    owner: fields.owner ?? '',
    role: fields.role ?? null,
    source: fields.source ?? null,
    fence: fields.fence ?? null,
    reason: fields.reason ?? null,
  }
}
