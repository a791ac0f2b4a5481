// `errand tree`: tasks with what is in them, indented.
import type { Engine } from '../../../api.ts'
import { isSettled, openStatuses, type Task } from '../../../entities/task.ts'
import { allTasks, eachTask } from '../each-task.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { endReason, shortId, stateWord, taskLabel } from '../task-words.ts'
import { fitWidth } from '../terminal-text.ts'
import { defineVerb } from '../verb.ts'

export const treeVerb = defineVerb({
  usage: 'tree [ID] [--all]',
  help: 'Shows a task and everything below it; without an id every tree in which something is not settled, with --all every one. --json gives one task a line.',
  options: { all: { type: 'boolean', short: 'a' } },
  positionals: { max: 1 },
  async run(io, { values, positionals: [ref] }) {
    return await withLedger(io, values, async (engine) => {
      const roots = ref === undefined ? await rootsOf(engine, values.all === true) : [await findTask(engine, ref)]
      for (const root of roots) {
        const below = await engine.subtree(root.id)
        if (values.json) for (const task of [root, ...below]) printJson(io, task)
        else
          for (const line of drawTree(root, below))
            print(io, fitWidth(line, io.stdout.columns ?? Number.POSITIVE_INFINITY))
      }
      return exitCodes.done
    })
  },
})

async function rootsOf(engine: Engine, all: boolean): Promise<Task[]> {
  if (all) return await allTasks(engine, { parentId: null })
  const roots = new Map<string, Task>()
  for await (const task of eachTask(engine, { status: [...openStatuses] })) {
    const root = await rootOf(engine, task)
    roots.set(root.id, root)
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

/** What a line of the tree tells of a task. */
export type TreeTask = Pick<
  Task,
  'id' | 'seq' | 'name' | 'parentId' | 'status' | 'ready' | 'blockedBy' | 'statusReason' | 'executor' | 'error'
>

/** One line per task, children below their parent in the order of their creation. */
export function drawTree(root: TreeTask, below: readonly TreeTask[]): string[] {
  const children = new Map<string, TreeTask[]>()
  for (const task of below) {
    const siblings = children.get(task.parentId ?? '') ?? []
    siblings.push(task)
    children.set(task.parentId ?? '', siblings)
  }
  const lines: string[] = []
  const draw = (task: TreeTask, lead: string, indent: string): void => {
    const reason = isSettled(task.status) ? endReason(task) : ''
    lines.push(
      `${lead}${taskLabel(task)} ${stateWord(task)}${reason === '' ? '' : `: ${reason}`} (${shortId(task.id)})`,
    )
    const inside = [...(children.get(task.id) ?? [])].sort((a, b) => a.seq - b.seq)
    for (const [index, child] of inside.entries()) {
      const last = index === inside.length - 1
      draw(child, `${indent}${last ? '└─ ' : '├─ '}`, `${indent}${last ? '   ' : '│  '}`)
    }
  }
  draw(root, '', '')
  return lines
}
