// The only way along an edge of the table: the row changes, its run and journal entries are closed, the event is added (walk.ts), and the
// family follows (settle-family.ts).
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { awaitsChildren, type TaskEventName } from '../../machines/transition-table.ts'
import { reviveGroupsAbove, startGroupsAbove } from './groups-above.ts'
import { cancelBelow, settleAll, settleBlockers } from './settle-family.ts'
import type { StepContext } from './step-context.ts'
import { noteConcerned } from './stuck.ts'
import { type Edge, walk } from './walk.ts'

/**
 * Moves a task along an edge. Returns the task after the edge; its family may have moved it further since.
 * @throws ErrandError INVALID_TRANSITION if the table has no such edge.
 */
export function* transition(
  tx: Tx,
  task: TaskRecord,
  event: TaskEventName,
  ctx: StepContext,
  edge: Edge = {},
): Op<TaskRecord> {
  const next = yield* walk(tx, task, event, ctx, edge)
  if (!edge.passing) yield* settle(tx, next, ctx)
  return next
}

/** Moves several tasks along an edge; the families follow when all have moved. */
export function* transitionAll(
  tx: Tx,
  tasks: readonly TaskRecord[],
  event: TaskEventName,
  ctx: StepContext,
  edgeOf: (task: TaskRecord) => Edge,
): Op<void> {
  const moved: TaskRecord[] = []
  for (const task of tasks) moved.push(yield* walk(tx, task, event, ctx, edgeOf(task)))
  for (const task of moved) yield* settle(tx, task, ctx)
}

function* settle(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  if (task.status === 'canceled') {
    return yield* settleAll(tx, [{ task }, ...(yield* cancelBelow(tx, task, task.statusReason, ctx))], ctx)
  }
  if (isSettled(task.status)) return yield* settleAll(tx, [{ task }], ctx)
  const concerned = { tasks: new Set<string>(), parents: new Set<string>() }
  if (task.openBlockers > 0 || task.stuckBy !== null) concerned.tasks.add(task.id)
  if (task.status === 'submitted') {
    const opened = [task, ...(yield* reviveGroupsAbove(tx, task, ctx))]
    for (const each of opened) yield* noteConcerned(tx, each, concerned)
    // Their blockers may have ended while that had no effect on them.
    for (const each of opened) yield* settleBlockers(tx, each, ctx)
  }
  if (task.status === 'working') yield* startGroupsAbove(tx, task, ctx)
  // All its children may have ended or be stuck before it began, reopened, or began to wait for them.
  const endsByChildren = (task.status === 'working' && !task.runOpen) || task.group || awaitsChildren(task)
  if (endsByChildren) concerned.parents.add(task.id)
  if (concerned.tasks.size + concerned.parents.size > 0) yield* settleAll(tx, [], ctx, concerned)
}
