// The names under which a plan's work is found again. A round is one pass through a plan; what it creates, it creates
// in generations: the first holds the whole plan, each later one what was added or is redone. All names are idempotency
// keys of the ledger, so two processes that start the same round at once make one set of tasks.
import { hash } from 'node:crypto'
import { dirname, relative } from 'node:path'
import type { Engine } from '../engine-api.ts'
import type { Task } from '../entities/task.ts'
import { isRootOf, type Trees } from '../entities/task-trees.ts'
import { eachTask } from './each-task.ts'

/** The ledger takes keys of 500 characters; what would not fit is replaced by its hash. */
const maxPartLength = 200

/** What all rounds of a plan begin with: where the file lies, seen from the ledger, so that both can move together. */
export function planKey(planFile: string, ledger: string): string {
  return `plan:${bounded(relative(dirname(ledger), planFile))}#`
}

/** The round that a user named with --key. The sign keeps it apart from the counted ones. */
export function namedRound(plan: string, name: string): string {
  return `${plan}=${bounded(name.replace(/[^\w.:,@-]/g, encodeURIComponent))}`
}

/** The latest counted round of a plan, or the one after it; the first is 1. */
export async function countedRound(engine: Engine, plan: string, again: boolean): Promise<string> {
  let highest = 0
  for await (const task of eachTask(engine, { keyPrefix: plan, parentId: null })) {
    const counted = /^(\d+)(?:$|[+/])/.exec(task.key?.slice(plan.length) ?? '')
    if (counted !== null) highest = Math.max(highest, Number(counted[1]))
  }
  return `${plan}${again ? highest + 1 : Math.max(highest, 1)}`
}

/** The group that holds a generation of a round. */
export function generationKey(round: string, generation: number): string {
  return generation === 0 ? round : `${round}+${generation}`
}

/** A task in a generation. */
export function taskKey(round: string, generation: number, path: string): string {
  return `${generationKey(round, generation)}/${bounded(path)}`
}

/** What the keys of all tasks of a round begin with: 1 must not find 10. */
export function roundPrefixes(round: string): string[] {
  return [`${round}/`, `${round}+`]
}

/** The trees that hold the tasks of a round, and all that its agents give away. A task whose group was deleted is a root of its own. */
export function treesOf(round: string): Trees {
  return { rootKeys: [round], rootKeyPrefixes: roundPrefixes(round) }
}

/** Whether a task belongs to a round: it, or what it lies below, has a key of that round. */
export async function isOfRound(engine: Engine, round: string, task: Task): Promise<boolean> {
  let root: Task | null = task
  while (root !== null && root.parentId !== null) root = await engine.get(root.parentId)
  return root !== null && isRootOf(treesOf(round), root)
}

function bounded(text: string): string {
  return text.length <= maxPartLength ? text : `~${hash('sha256', text)}`
}
