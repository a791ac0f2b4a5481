// Moves a task by an event, and its family after it.
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import type { TaskEventName, TaskMachineEvent, TransitionData } from '../../machines/task-machine.ts'
import { Cascade } from './cascade.ts'
import { sendEvent } from './send-event.ts'
import { followUp } from './settle-family.ts'
import type { StepContext } from './step-context.ts'

/**
 * Moves a task by an event of the table. Returns the task after it; its family may have moved it further since.
 * @throws ErrandError INVALID_TRANSITION when its state does not accept the event.
 */
export function* transition(
  tx: Tx,
  task: TaskRecord,
  event: TaskEventName,
  ctx: StepContext,
  data: TransitionData = {},
): Op<TaskRecord> {
  const cascade = new Cascade()
  const next = yield* sendEvent(tx, task, { type: event, ...data }, cascade, ctx)
  yield* followUp(tx, cascade, ctx)
  return next
}

/** Moves several tasks by an event; the families follow when all have moved. */
export function* transitionAll(
  tx: Tx,
  tasks: readonly TaskRecord[],
  event: TaskEventName,
  ctx: StepContext,
  dataOf: (task: TaskRecord) => TransitionData,
): Op<void> {
  const cascade = new Cascade()
  for (const task of tasks) yield* sendEvent(tx, task, { type: event, ...dataOf(task) }, cascade, ctx)
  yield* followUp(tx, cascade, ctx)
}

/** Fails a live task for good, whatever its state; its run, if any, ends. */
export function* failAnywhere(
  tx: Tx,
  event: Extract<TaskMachineEvent, { type: 'fail.anywhere' }>,
  ctx: StepContext,
): Op<void> {
  const cascade = new Cascade()
  yield* sendEvent(tx, event.own, event, cascade, ctx)
  yield* followUp(tx, cascade, ctx)
}
