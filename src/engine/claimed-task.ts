// Marks tasks that `claim` returned, so that writes with them carry owner and fence automatically. A task that was only read has
// no mark, and writing with it does not count as a write of the owner.

import type { Task } from '../entities/task.ts'
import { type ClaimToken, claimTokenFrom } from '../machines/ownership.ts'
import type { TaskRef } from './engine-api.ts'

/** Shared between copies of the package. Not enumerable, so that copies of the object and its JSON are not marked. */
const mark = Symbol.for('errand.claim')

/** Marks a task as seen by its owner, and returns it. */
export function asOwner(task: Task): Task {
  return Object.defineProperty(task, mark, { value: true })
}

/** Marks the task that a write has returned if the writer still owns it. */
export function asWriter(task: Task, token: ClaimToken | undefined): Task {
  const owns = token !== undefined && task.owner === token.owner && (token.fence ?? task.fence) === task.fence
  return owns ? asOwner(task) : task
}

/**
 * The writer, named in the options or by the mark of a claimed task. With an owner in the options the fence is taken from the
 * given task, even if that was only read: a caller that names the owner has read it.
 * @throws ErrandError INVALID_INPUT for a fence without an owner.
 */
export function claimTokenOf(ref: TaskRef, options: Partial<ClaimToken> = {}): ClaimToken | undefined {
  // A value that is not a task has no mark; it is refused where its id is read.
  const task = Object(ref) as Partial<Pick<Task, 'owner' | 'fence'>> & { [mark]?: true }
  if (options.owner === undefined) {
    const isOwners = options.fence === undefined && task[mark] === true
    return isOwners ? { owner: task.owner as string, fence: task.fence } : claimTokenFrom(undefined, options.fence)
  }
  const seen = task.owner === options.owner && typeof task.fence === 'number' ? task.fence : undefined
  return claimTokenFrom(options.owner, options.fence ?? seen)
}
