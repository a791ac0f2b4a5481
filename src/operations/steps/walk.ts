// Walks one edge of the table in a transaction: the row changes, its run ends, its open journal entries are closed, and the event is added.
// `transition` (transition.ts) calls this and then settles the family; only the family steps call it alone.
import type { EventType } from '../../entities/event.ts'
import type { RunOutcome } from '../../entities/run.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { type Changes, moved } from '../../machines/changed-task.ts'
import { awaitsChildren, publishedAs, type TaskEventName } from '../../machines/transition-table.ts'
import { closeEntries, endedWith, isIdle } from './journal-closing.ts'
import { eventOf, type StepContext } from './step-context.ts'

/** What an edge carries beside its event. */
export interface Edge {
  /** New values of the row beside its state. */
  set?: Changes
  /** Data of the event beside what each event of its kind has. */
  data?: Record<string, unknown>
  /** The event that led to this edge, written before the event of the edge. */
  cause?: { type: EventType; data: (next: TaskRecord) => Record<string, unknown> }
  /** The outcome of the run, where the next state does not determine it. */
  outcome?: RunOutcome
  /** For a run that settles: whether it is closed at once, because nothing of it is in flight, and whether it made any entry. */
  settling?: { closed: boolean; journaled: boolean }
  /** The task leaves the state by another edge in the same step: its family follows that one. */
  passing?: boolean
}

/**
 * Walks one edge and returns the changed task.
 * @throws ErrandError INVALID_TRANSITION if the table has no such edge.
 */
export function* walk(
  tx: Tx,
  task: TaskRecord,
  event: TaskEventName,
  ctx: StepContext,
  edge: Edge = {},
): Op<TaskRecord> {
  const next = moved(task, event, ctx.at, {
    ...edge.set,
    ...(edge.settling === undefined ? {} : { runOpen: !edge.settling.closed }),
  })
  if (task.status === 'working' && task.runOpen) {
    // From WORKING, the next state determines the outcome of the run.
    yield* endRun(tx, task, edge.outcome ?? (next.status as RunOutcome), next, ctx, edge.settling)
  }
  if (edge.settling?.journaled !== false && (isSettled(next.status) || awaitsChildren(next))) {
    yield* closeEntries(tx, next, task.runOpen ? isIdle : () => true, () => endedWith(next), ctx)
  }
  // `ready` depends on columns of both statements, so only the second returns it.
  if (edge.set?.policy !== undefined) yield* tx.task.saveDefinition({ ...next, ready: false, claimable: false })
  if (event === 'retry') yield* tx.dependency.reopenWaits(next.id)
  // A settled task waits for nothing, and must not count as stuck when it reopens.
  if (isSettled(next.status) && next.stuckBy !== null) {
    next.stuckBy = null
    yield* tx.task.setStuck(next.id, null)
  }
  yield* tx.task.save(next)
  if (edge.cause !== undefined) yield* tx.event.append(eventOf(ctx, edge.cause.type, next, edge.cause.data(next)))
  yield* tx.event.append(eventOf(ctx, publishedAs[event], next, { ...dataOf(task, next, edge), ...edge.data }))
  return next
}

/** The event that leads a task back to WORKING. */
export const wayToWorking: Partial<Record<TaskRecord['status'], TaskEventName>> = {
  submitted: 'start',
  paused: 'resume',
  waiting: 'unblock',
  input_required: 'answer',
}

/** Moves a task to WORKING without a run: each edge is legal and has its event. */
export function* walkToWorking(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord> {
  const event = wayToWorking[task.status]
  if (event === undefined) return task
  return yield* walk(tx, task, event, ctx, { set: { held: false, wakes: 0 } })
}

/** Marks the live run of the task as ending, or as closed; a run that has already ended is not changed. */
function* endRun(
  tx: Tx,
  { id, run }: TaskRecord,
  outcome: RunOutcome,
  { error }: TaskRecord,
  { at }: StepContext,
  settling: Edge['settling'],
): Op<void> {
  // The fence of a run that settles has shown that it is live.
  if (settling === undefined && (yield* tx.run.get(id, run))?.status !== 'live') return
  const closed = settling?.closed === true
  yield* tx.run.save({
    taskId: id,
    number: run,
    status: closed ? 'closed' : 'ending',
    outcome,
    error: outcome === 'failed' ? error : null,
    endedAt: at,
    closedAt: closed ? at : null,
  })
}

function dataOf(before: TaskRecord, { status, statusReason, attempt, error }: TaskRecord, edge: Edge) {
  const from = { from: before.status }
  const left = before.runOpen ? { ...from, run: before.run } : from
  switch (status) {
    case 'working':
    case 'submitted':
      return { ...from, attempt }
    case 'failed':
      return { ...left, error, willRetry: edge.passing === true }
    case 'canceled':
      return { ...left, reason: statusReason }
    case 'waiting':
      return statusReason === null ? left : { ...left, reason: statusReason }
    default:
      return left
  }
}
