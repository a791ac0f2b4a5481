// The keys of a plan's tasks. A round is one pass through a plan. It creates its tasks in generations: the first holds the whole plan,
// each later one the tasks that were added or are redone. Keys are idempotency keys of the ledger, so two processes that start the same
// round at once create one set of tasks.

import { dirname, join, relative } from 'node:path'
import { sha256 } from '../core/sha256.ts'
import type { Engine } from '../engine/engine-api.ts'
import type { Task } from '../entities/task.ts'
import { isRootOf, type Trees } from '../entities/task-trees.ts'
import type { Plan } from './plan.ts'

/** The ledger takes keys of 500 characters; a longer part is replaced by its hash. */
const maxPartLength = 200

/**
 * The prefix of all rounds of a plan: the path of its file relative to the ledger, so that both can move together. For a plan that was
 * given as a value it is its folder and name, after a slash, with which no relative path begins.
 */
export function planKey({ file, folder, name }: Pick<Plan, 'file' | 'folder' | 'name'>, ledger: string): string {
  const from = dirname(ledger)
  if (file !== null) return `plan:${bounded(relative(from, file))}#`
  return `plan:/${bounded(join(relative(from, folder), encodeURIComponent(name)))}#`
}

/** The round with a name of its own. The sign `=` keeps it apart from the counted ones. */
export function namedRound(plan: string, name: string): string {
  return `${plan}=${bounded(name.replace(/[^\w.:,@-]/g, encodeURIComponent))}`
}

/** Key of the group that holds a generation. */
export function generationKey(round: string, generation: number): string {
  return generation === 0 ? round : `${round}+${generation}`
}

/** Key of a task in a generation. */
export function taskKey(round: string, generation: number, path: string): string {
  return `${generationKey(round, generation)}/${bounded(path)}`
}

/** The prefixes of the keys of a round's tasks: round 1 must not find those of round 10. */
export function roundPrefixes(round: string): string[] {
  return [`${round}/`, `${round}+`]
}

/** The trees that hold the tasks of a round and the subtasks that its agents create. A task whose group was deleted is a root. */
export function treesOf(round: string): Trees {
  return { rootKeys: [round], rootKeyPrefixes: roundPrefixes(round) }
}

/** Whether a task belongs to a round: the root above it, or itself, has a key of that round. */
export async function isOfRound(engine: Engine, round: string, task: Task): Promise<boolean> {
  let root: Task | null = task
  while (root !== null && root.parentId !== null) root = await engine.get(root.parentId)
  return root !== null && isRootOf(treesOf(round), root)
}

function bounded(text: string): string {
  return text.length <= maxPartLength ? text : `~${sha256(text)}`
}
