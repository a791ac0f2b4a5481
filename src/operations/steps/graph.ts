// The open tasks as a graph: an order in which they can be worked off, and which of them block the most others.

import { ErrandError } from '../../core/errors.ts'
import { type BriefRecord, openStatuses } from '../../entities/task.ts'
import type { TaskGraph } from '../../entities/views.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { criticalBlockers, type GraphNode, topologicalOrder } from '../../machines/task-graph.ts'
import { loadTask } from './step-context.ts'

/** The maximum of tasks in a graph. More would take long to compute and be too long to read. */
const maxInGraph = 5_000

/**
 * Groups are not listed, because only their tasks are worked off. A task after a group comes after all tasks in it.
 * @throws ErrandError LIMIT_EXCEEDED { limit } for too many open tasks.
 */
export function* graphOf(
  tx: Reads,
  parentId: string | undefined,
): Op<{ order: BriefRecord[]; critical: TaskGraph['critical'] }> {
  let tasks: BriefRecord[]
  if (parentId === undefined) tasks = yield* tx.task.listBrief({ statuses: [...openStatuses] }, maxInGraph + 1)
  else {
    yield* loadTask(tx, parentId)
    tasks = (yield* tx.task.briefSubtree(parentId)).filter((task) => openStatuses.includes(task.status))
  }
  if (tasks.length > maxInGraph) throw tooMany(parentId)
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const ends = new Map<string, string>()
  for (const { parentId } of tasks) {
    const parent = parentId === null ? undefined : byId.get(parentId)
    if (parent?.policy.autoComplete && !parent.group) ends.set(parent.id, `end of ${parent.id}`)
  }
  const endOf = (id: string) => ends.get(id) ?? id
  const held = new Map<string, string[]>()
  for (const { id, parentId } of tasks) {
    const parent = parentId === null ? undefined : byId.get(parentId)
    if (!parent?.group && !ends.has(parentId ?? '')) continue
    const list = held.get(parentId as string)
    if (list) list.push(endOf(id))
    else held.set(parentId as string, [endOf(id)])
  }
  const nodes: GraphNode[] = []
  for (const { id, priority, seq, openBlockers, group } of tasks) {
    const blockedBy = openBlockers === 0 ? [] : (yield* tx.dependency.openBlockers(id)).map(endOf)
    if (group) nodes.push({ id, priority, seq, blockedBy: held.get(id) ?? [], joint: true })
    else nodes.push({ id, priority, seq, blockedBy })
    const end = ends.get(id)
    if (end) nodes.push({ id: end, priority, seq, blockedBy: [id, ...(held.get(id) as string[])], joint: true })
  }
  return {
    order: topologicalOrder(nodes).map((id) => byId.get(id) as BriefRecord),
    critical: criticalBlockers(nodes).map(({ id, holdsUp }) => ({ taskId: id, holdsUp })),
  }
}

function tooMany(parentId: string | undefined): ErrandError {
  const where = parentId === undefined ? 'in the ledger' : `below ${parentId}`
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `More than ${maxInGraph} tasks are open ${where}, the limit of one graph. Request the tasks below one task with \`parentId\`.`,
    { limit: maxInGraph, parentId: parentId ?? null },
  )
}
