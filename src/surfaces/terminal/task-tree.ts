// Trees of tasks as indented lines, for `tree`.
import type { Engine } from '../../engine/engine-api.ts'
import { type BriefTask, briefTask, failureSuffix, isSettled, openStatuses, type Task } from '../../entities/task.ts'
import { allBriefly, eachTask } from '../../plans/each-task.ts'
import { endReason, shortId, stateLabel, taskLabel } from './task-labels.ts'
import { fitWidth } from './terminal-text.ts'

export interface TaskTree {
  root: BriefTask
  /** All descendants. */
  below: BriefTask[]
}

/** Every tree if `all`, else those with a task that is not settled. */
export async function readTrees(engine: Engine, all: boolean): Promise<TaskTree[]> {
  const trees: TaskTree[] = []
  // One after the other: each is in memory with the long fields of its tasks while it is read.
  for (const root of await rootsOf(engine, all)) trees.push(await readTree(engine, root))
  return trees
}

export async function readTree(engine: Engine, root: BriefTask): Promise<TaskTree> {
  return { root, below: (await engine.subtree(root.id)).map(briefTask) }
}

/** @param columns of the terminal; without a terminal nothing is cut. */
export function treeLines(trees: readonly TaskTree[], columns = Number.POSITIVE_INFINITY): string[] {
  const nameColumns = Number.isFinite(columns) ? 60 : columns
  return trees.flatMap((tree) => drawTree(tree, nameColumns)).map((line) => fitWidth(line, columns))
}

async function rootsOf(engine: Engine, all: boolean): Promise<BriefTask[]> {
  if (all) return await allBriefly(engine, { parentId: null })
  const roots = new Map<string, BriefTask>()
  for await (const task of eachTask(engine, { status: [...openStatuses] })) {
    const root = await rootOf(engine, task)
    roots.set(root.id, briefTask(root))
  }
  return [...roots.values()].sort((a, b) => a.seq - b.seq)
}

async function rootOf(engine: Engine, task: Task): Promise<Task> {
  let root = task
  while (root.parentId !== null) {
    const parent = await engine.get(root.parentId)
    if (parent === null) break
    root = parent
  }
  return root
}

/** One line per task, children below their parent in the order of their creation. */
function drawTree({ root, below }: TaskTree, nameColumns: number): string[] {
  const children = Map.groupBy(below, (task) => task.parentId)
  const lines: string[] = []
  const draw = (task: BriefTask, lead: string, indent: string): void => {
    const reason = isSettled(task.status) && task.status !== 'completed' ? failureSuffix(endReason(task)) : ''
    lines.push(`${lead}${taskLabel(task, nameColumns)} ${stateLabel(task)}${reason} (${shortId(task.id)})`)
    const inside = (children.get(task.id) ?? []).toSorted((a, b) => a.seq - b.seq)
    for (const [index, child] of inside.entries()) {
      const last = index === inside.length - 1
      draw(child, `${indent}${last ? '└─ ' : '├─ '}`, `${indent}${last ? '   ' : '│  '}`)
    }
  }
  draw(root, '', '')
  return lines
}
