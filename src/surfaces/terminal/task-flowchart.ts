// Tasks of the ledger and their dependencies as a Mermaid diagram.
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { allTasks } from '../../plans/each-task.ts'
import { type GraphNode, toFlowchart } from './mermaid.ts'
import { stateLabel } from './task-labels.ts'
import { cleanLine } from './terminal-text.ts'

/** Draws a task and everything below it, or the whole ledger. */
export async function taskFlowchart(engine: Engine, root: Task | undefined): Promise<string> {
  const tasks = root === undefined ? await allTasks(engine) : [root, ...(await engine.subtree(root.id))]
  return toFlowchart(await taskNodes(engine, tasks))
}

/** Includes satisfied dependencies, so that a finished plan still shows its order. */
async function taskNodes(engine: Engine, tasks: readonly Task[]): Promise<GraphNode[]> {
  const parents = new Set(tasks.map((task) => task.parentId))
  const sorted = [...tasks].sort((a, b) => a.seq - b.seq)
  return Promise.all(
    sorted.map(async (task) => ({
      id: task.id,
      label: cleanLine(`${task.name}: ${stateLabel(task)}`),
      group: parents.has(task.id),
      parent: task.parentId,
      after: (await engine.dependencies(task)).map((blocker) => blocker.id),
      status: task.status,
    })),
  )
}
