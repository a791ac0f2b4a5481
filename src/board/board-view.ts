// What people and agents see of a task on the board.
import { type BoardEntry, type BoardRef, type BoardTask, boardStatusOf, workspaceOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { BoardEdge, BoardNeighbour, Op, Reads } from '../ledger/ledger.ts'
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

/** Tasks read at once. */
const pageSize = 1_000

/** One task as it is now. One without a number on this board has none to show yet. */
export function* viewTask(tx: Reads, board: string, task: TaskRecord, entry?: BoardEntry): Op<BoardTask> {
  const own = entry ?? (yield* tx.board.entryOf(board, task.id))
  return toBoardTask(task, own, {
    blockers: yield* tx.board.blockersOf(board, task.id),
    dependents: yield* tx.board.dependentsOf(board, task.id),
    parent:
      task.parentId === null ? undefined : ((yield* tx.board.entryOf(board, task.parentId))?.number ?? task.parentId),
  })
}

/** What `pick` makes of every task of the board, by number; read page by page. */
export function* everyOnBoard<T>(tx: Reads, board: string, pick: (row: Numbered) => T): Op<T[]> {
  const picked: T[] = []
  for (let after = 0; ; ) {
    const page = yield* tx.board.page(board, after, pageSize)
    picked.push(...page.map(pick))
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return picked
    after = last.entry.number
  }
}

/** Every task of the board by number, as far as it is below all of `above`. */
export function* viewBoard(tx: Reads, board: string, above: readonly string[]): Op<BoardTask[]> {
  const tasks = yield* everyOnBoard(tx, board, (row) => row)
  const edges = yield* tx.board.edges(board)
  const blockers = Map.groupBy(edges, ({ taskId }) => taskId)
  const dependents = Map.groupBy(edges, ({ blockerId }) => blockerId)
  const numbers = new Map(tasks.map(({ entry }) => [entry.taskId, entry.number]))
  const within: Array<Set<string>> = []
  for (const root of above) within.push(yield* idsBelow(tx, root))
  return tasks
    .filter(({ task }) => within.every((ids) => ids.has(task.id)))
    .map(({ task, entry }) =>
      toBoardTask(task, entry, {
        blockers: (blockers.get(task.id) ?? []).map(blockerOf),
        dependents: dependents.get(task.id) ?? [],
        parent: task.parentId === null ? undefined : (numbers.get(task.parentId) ?? task.parentId),
      }),
    )
}

function* idsBelow(tx: Reads, root: string): Op<Set<string>> {
  return new Set((yield* tx.task.subtree(root)).map((task) => task.id))
}

function blockerOf({ blockerId: taskId, blockerNumber: number, open }: BoardEdge): BoardNeighbour {
  return { taskId, number, open }
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
    ready: task.claimable && task.owner === null,
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
