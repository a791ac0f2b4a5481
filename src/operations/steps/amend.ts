// A change of a row that follows no edge of the chart, with the event that reports it.
import type { EventType } from '../../entities/event.ts'
import type { Changes, TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import { eventOf, type StepContext } from './step-context.ts'

/** Saves the change, appends the event and returns the changed task. */
export function* amend(
  tx: Tx,
  task: TaskRecord,
  set: Changes,
  ctx: StepContext,
  type: EventType,
  data: Record<string, unknown> = {},
): Op<TaskRecord> {
  const next = touched(task, ctx.at, set)
  yield* tx.task.save(next)
  yield* tx.event.append(eventOf(ctx, type, next, data))
  return next
}
