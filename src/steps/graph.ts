// The open tasks as a graph: in which order they can be worked off, and which of them hold up the most.
import type { TaskGraph } from '../api.ts'
import { settledStatuses, type TaskRecord, taskStatuses } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { criticalBlockers, type GraphNode, topologicalOrder } from '../machines/task-graph.ts'
import { requireTask } from './moment.ts'

const openStatuses = taskStatuses.filter((status) => !settledStatuses.includes(status))
const everything = 1_000_000

/** Groups are left out: what they hold is worked off, not they. */
export function* graphOf(
  tx: Reads,
  parentId: string | undefined,
): Op<{ order: TaskRecord[]; critical: TaskGraph['critical'] }> {
  let tasks: TaskRecord[]
  if (parentId === undefined) tasks = yield* tx.task.list({ statuses: openStatuses }, everything)
  else {
    requireTask(yield* tx.task.get(parentId), parentId)
    tasks = (yield* tx.task.subtree(parentId)).filter((task) => openStatuses.includes(task.status))
  }
  const byId = new Map(tasks.filter((task) => !task.group).map((task) => [task.id, task]))
  const nodes: GraphNode[] = []
  for (const { id, priority, seq, openBlockers } of byId.values()) {
    const blockedBy = openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(id)
    nodes.push({ id, priority, seq, blockedBy })
  }
  return {
    order: topologicalOrder(nodes).map((id) => byId.get(id) as TaskRecord),
    critical: criticalBlockers(nodes).map(({ id, holdsUp }) => ({ taskId: id, holdsUp })),
  }
}
