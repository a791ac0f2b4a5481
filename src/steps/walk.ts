// One edge of the table, walked in a transaction: the row moves, its run ends, what it left open in the journal is closed, and the
// event is added. `transition` (transition.ts) walks and lets the family follow; only the family itself walks alone.
import type { EventType } from '../entities/event.ts'
import type { RunOutcome } from '../entities/run.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { awaitsChildren } from '../machines/family.ts'
import { publishedAs, type TaskEventName } from '../machines/task-machine.ts'
import { type Changes, moved } from '../machines/task-transition.ts'
import { closeEntries, endedWith, isIdle } from './journal-closing.ts'
import { eventOf, type StepContext } from './step-context.ts'

/** What an edge carries beside its event. */
export interface Edge {
  /** New values of the row beside its state. */
  set?: Changes
  /** What the event says beside what every event of its kind says. */
  data?: Record<string, unknown>
  /** The event that says what led to it, before the edge's own. */
  cause?: { type: EventType; data: (next: TaskRecord) => Record<string, unknown> }
  /** How the run ends, where the state that follows does not say it. */
  outcome?: RunOutcome
  /** Of a run that settles: whether it is closed at once, because nothing of it is in flight, and whether it made any entry. */
  settling?: { closed: boolean; journaled: boolean }
  /** The task moves on by another edge in the same step: its family follows that one. */
  passing?: boolean
}

/**
 * Walks one edge; the task as it is then.
 * @throws ErrandError INVALID_TRANSITION where the table has no such edge.
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
    // From WORKING the state that the task gets to says how its run has ended.
    yield* endRun(tx, task, edge.outcome ?? (next.status as RunOutcome), next, ctx, edge.settling)
  }
  if (edge.settling?.journaled !== false && (isSettled(next.status) || awaitsChildren(next))) {
    yield* closeEntries(tx, next, task.runOpen ? isIdle : () => true, () => endedWith(next), ctx)
  }
  // Readiness rests on columns of both statements, so only the second returns it.
  if (edge.set?.policy !== undefined) yield* tx.task.saveDefinition({ ...next, ready: false, claimable: false })
  if (event === 'retry') yield* tx.dependency.reopenWaits(next.id)
  // What has ended waits for nothing, and must not be taken for stuck when it is opened again.
  if (isSettled(next.status) && next.stuckBy !== null) {
    next.stuckBy = null
    yield* tx.task.setStuck(next.id, null)
  }
  yield* tx.task.save(next)
  if (edge.cause !== undefined) yield* tx.event.append(eventOf(ctx, edge.cause.type, next, edge.cause.data(next)))
  yield* tx.event.append(eventOf(ctx, publishedAs[event], next, { ...toldOf(task, next, edge), ...edge.data }))
  return next
}

/** The event that leads a task back to WORKING. */
export const wayToWorking: Partial<Record<TaskRecord['status'], TaskEventName>> = {
  submitted: 'start',
  paused: 'resume',
  waiting: 'unblock',
  input_required: 'answer',
}

/** Walks a task into WORKING without a run: the edges stay legal and each emits its event. */
export function* walkToWorking(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord> {
  const event = wayToWorking[task.status]
  if (event === undefined) return task
  return yield* walk(tx, task, event, ctx, { set: { held: false, wakes: 0 } })
}

/** Marks the task's live run as ending, or as closed; one that has ended already stays as it is. */
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

function toldOf(before: TaskRecord, { status, statusReason, attempt, error }: TaskRecord, edge: Edge) {
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
