// The view of a task on the board, as people and agents see it.
import { type BoardEntry, type BoardRef, type BoardTask, boardStatusOf, workspaceOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import { all, type BoardNeighbour, type Op, type Reads } from '../ledger/ledger.ts'
import { isQueued } from '../machines/readiness.ts'

/** A task with its number on a board. */
export interface Numbered {
  entry: BoardEntry
  task: TaskRecord
}

interface Neighbours {
  blockers: readonly BoardNeighbour[]
  dependents: readonly BoardNeighbour[]
  parent: BoardRef | undefined
}

/** Tasks per read. */
const pageSize = 500

/** Returns the view of a task. Its `id` is 0 if it has no number on this board. */
export function* viewTask(tx: Reads, board: string, task: TaskRecord, entry?: BoardEntry): Op<BoardTask> {
  const { id, parentId } = task
  const [blockers, dependents, own, above] = yield* all([
    tx.board.blockersOf(board, id),
    tx.board.dependentsOf(board, id),
    entryOf(tx, board, entry === undefined ? id : null),
    entryOf(tx, board, parentId),
  ])
  const parent = parentId === null ? undefined : (above?.number ?? parentId)
  return toBoardTask(task, entry ?? own, { blockers, dependents, parent })
}

function* entryOf(tx: Reads, board: string, task: string | null): Op<BoardEntry | undefined> {
  return task === null ? undefined : yield* tx.board.entryOf(board, task)
}

/** Returns the views of tasks with their numbers. */
export function* viewTasks(tx: Reads, board: string, found: readonly Numbered[]): Op<BoardTask[]> {
  const views: BoardTask[] = []
  for (const { task, entry } of found) views.push(yield* viewTask(tx, board, task, entry))
  return views
}

/** Calls `see` for every task of the board, by number; reads in pages. */
export function* forEachOnBoard(tx: Reads, board: string, see: (row: Numbered) => void): Op<void> {
  for (let after = 0; ; ) {
    const page = yield* tx.board.page(board, after, pageSize)
    for (const row of page) see(row)
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.entry.number
  }
}

/** Returns what `pick` makes of every task of the board, by number. */
export function* mapBoard<T>(tx: Reads, board: string, pick: (row: Numbered) => T): Op<T[]> {
  const picked: T[] = []
  yield* forEachOnBoard(tx, board, (row) => picked.push(pick(row)))
  return picked
}

/** Pending, unowned, not blocked. */
export function isFreeToClaim({ claimable, owner }: TaskRecord): boolean {
  return claimable && owner === null
}

function toBoardTask(
  task: TaskRecord,
  entry: BoardEntry | undefined,
  { blockers, dependents, parent }: Neighbours,
): BoardTask {
  const { activeForm, extra } = entry?.fields ?? {}
  const workspace = workspaceOf(task, entry?.fields ?? {})
  const status = boardStatusOf(task)
  const refs = (of: readonly BoardNeighbour[]) => of.map(({ number, taskId }) => number ?? taskId)
  return {
    id: entry?.number ?? 0,
    subject: task.name,
    description: task.description,
    status,
    blockedBy: refs(blockers.filter((each) => each.open)),
    blocks: refs(dependents),
    owner: task.owner ?? '',
    ...(activeForm === undefined ? {} : { activeForm }),
    ...(workspace === undefined ? {} : { workspace }),
    priority: task.priority,
    metadata: task.metadata,
    ...(task.role === null ? {} : { role: task.role }),
    tags: task.tags,
    ...(parent === undefined ? {} : { parent }),
    dependencies: refs(blockers),
    ready: isFreeToClaim(task),
    queued: isQueued(task),
    taskId: task.id,
    canonicalStatus: task.status,
    statusReason: task.statusReason,
    fence: task.fence,
    leaseUntil: task.leaseUntil,
    ...(task.executor === null ? {} : { executor: task.executor }),
    ...(task.progress === null ? {} : { progress: { fraction: task.progress.fraction, note: task.progress.note } }),
    ...(task.result === null || task.result === undefined ? {} : { result: task.result }),
    ...(task.error === null ? {} : { error: { code: task.error.code, message: task.error.message } }),
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    completedAt: task.completedAt,
    ...(extra === undefined ? {} : { extra }),
  }
}
