// What people and agents see of a task on the board.
import { type BoardEntry, type BoardTask, boardStatusOf, workspaceOf } from '../entities/board.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { BoardEdge, BoardNeighbour, Op, Reads } from '../ledger/ledger.ts'
import { isQueued } from '../machines/readiness.ts'
import { shownRef } from './task-ref.ts'

interface Neighbours {
  blockers: readonly BoardNeighbour[]
  dependents: readonly BoardNeighbour[]
  parent: { id: string; number: number | null } | undefined
}

/** Tasks read at once for a list. */
const pageSize = 1_000

/** One task as it is now. One without a number on this board has none to show yet. */
export function* viewTask(tx: Reads, board: string, task: TaskRecord, entry?: BoardEntry): Op<BoardTask> {
  const own = entry ?? (yield* tx.board.entryOf(board, task.id))
  return toBoardTask(task, own, {
    blockers: yield* tx.board.blockersOf(board, task.id),
    dependents: yield* tx.board.dependentsOf(board, task.id),
    parent:
      task.parentId === null
        ? undefined
        : { id: task.parentId, number: (yield* tx.board.entryOf(board, task.parentId))?.number ?? null },
  })
}

/** Every task of the board by number, as far as it is below all of `above`. */
export function* viewBoard(tx: Reads, board: string, above: readonly string[]): Op<BoardTask[]> {
  const tasks: Array<{ entry: BoardEntry; task: TaskRecord }> = []
  for (let after = 0; ; ) {
    const page = yield* tx.board.page(board, after, pageSize)
    tasks.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) break
    after = last.entry.number
  }
  const edges = neighboursOf(yield* tx.board.edges(board))
  const numbers = new Map(tasks.map(({ entry }) => [entry.taskId, entry.number]))
  const within: Array<Set<string>> = []
  for (const root of above) within.push(yield* idsBelow(tx, root))
  return tasks
    .filter(({ task }) => within.every((ids) => ids.has(task.id)))
    .map(({ task, entry }) =>
      toBoardTask(task, entry, {
        blockers: edges.blockers.get(task.id) ?? [],
        dependents: edges.dependents.get(task.id) ?? [],
        parent: task.parentId === null ? undefined : { id: task.parentId, number: numbers.get(task.parentId) ?? null },
      }),
    )
}

function* idsBelow(tx: Reads, root: string): Op<Set<string>> {
  return new Set((yield* tx.task.subtree(root)).map((task) => task.id))
}

function neighboursOf(edges: readonly BoardEdge[]): Record<'blockers' | 'dependents', Map<string, BoardNeighbour[]>> {
  const blockers = new Map<string, BoardNeighbour[]>()
  const dependents = new Map<string, BoardNeighbour[]>()
  for (const { taskId, number, blockerId, blockerNumber, open } of edges) {
    add(blockers, taskId, { taskId: blockerId, number: blockerNumber, open })
    add(dependents, blockerId, { taskId, number, open })
  }
  return { blockers, dependents }
}

function add(map: Map<string, BoardNeighbour[]>, key: string, neighbour: BoardNeighbour): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [neighbour])
  else known.push(neighbour)
}

function toBoardTask(
  task: TaskRecord,
  entry: BoardEntry | undefined,
  { blockers, dependents, parent }: Neighbours,
): BoardTask {
  const { activeForm, extra } = entry?.fields ?? {}
  const workspace = workspaceOf(task, entry?.fields ?? {})
  const status = boardStatusOf(task)
  const refs = (of: readonly BoardNeighbour[]) => of.map((each) => shownRef(each.number, each.taskId))
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
    ...(parent === undefined ? {} : { parent: shownRef(parent.number, parent.id) }),
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
