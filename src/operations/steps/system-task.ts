// Inserts a task that follows from others: a handler, or the delivery of a webhook. It has no parent and comes after nothing.
import { sha256 } from '../../core/sha256.ts'
import type { NewTask, Op, Tx } from '../../ledger/ledger.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import { newTask } from './new-task.ts'
import { eventOf, type StepContext } from './step-context.ts'
import { writeLine } from './write-message.ts'

/**
 * The id of the task that follows from something. Made of what is true in the transaction alone: the ledger may run it several times, and another
 * engine may try the same, which is refused.
 */
export function systemTaskId(...from: ReadonlyArray<string | number>): string {
  return `task-${sha256(JSON.stringify(from)).slice(0, 16)}`
}

/** @param data what the event of its creation says besides goal and executor. */
export function* insertSystemTask(
  tx: Tx,
  draft: TaskDraft,
  data: Record<string, unknown>,
  ctx: StepContext,
): Op<NewTask> {
  const task = newTask({ ...draft, system: true }, undefined, 0, undefined, ctx.at)
  yield* tx.task.insert(task)
  const { id, goal, executor } = task
  yield* tx.event.append(eventOf(ctx, 'task.created', task, { ...data, ...(goal === null ? {} : { goal }), executor }))
  for (const [index, line] of draft.opening.entries()) {
    const message = { ...line, id: `${id.replace(/^task-/, 'msg-')}-${index}` }
    yield* writeLine(tx, task, { ...message, delivery: line.role === 'user' ? 'steer' : null }, ctx)
  }
  return task
}
