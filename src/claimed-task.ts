// A claimed task speaks for its owner: what `claim` returned carries a mark, so that writes with it quote owner and fence by
// themselves. A task that was merely read carries none: a bystander who passes it on is a bystander.
import type { TaskRef } from './engine-api.ts'
import type { Task } from './entities/task.ts'
import { type ClaimToken, claimTokenFrom } from './machines/ownership.ts'

/** Shared between copies of the package; not enumerable, so that copies of the object and its JSON do not speak for the owner. */
const mark = Symbol.for('errand.claim')

/** Marks a task as seen by its owner, and returns it. */
export function asOwner(task: Task): Task {
  return Object.defineProperty(task, mark, { value: true })
}

/** A task that a write has returned: it speaks for the owner if that one has written, and owns it still. */
export function asWriter(task: Task, quote: ClaimToken | undefined): Task {
  const owns = quote !== undefined && task.owner === quote.owner && (quote.fence ?? task.fence) === task.fence
  return owns ? asOwner(task) : task
}

/**
 * Who writes: said in the options, or by the claimed task itself. With an owner in the options the fence may be that of any view of
 * the task: who says its name has read it.
 * @throws ErrandError INVALID_INPUT for a fence without an owner.
 */
export function claimTokenOf(ref: TaskRef, said: Partial<ClaimToken> = {}): ClaimToken | undefined {
  // What is no task at all has no mark either: it is refused where its id is read.
  const task = Object(ref) as Partial<Pick<Task, 'owner' | 'fence'>> & { [mark]?: true }
  if (said.owner === undefined) {
    const isOwners = said.fence === undefined && task[mark] === true
    return isOwners ? { owner: task.owner as string, fence: task.fence } : claimTokenFrom(undefined, said.fence)
  }
  const seen = task.owner === said.owner && typeof task.fence === 'number' ? task.fence : undefined
  return claimTokenFrom(said.owner, said.fence ?? seen)
}
