// Waiting for other tasks: the edges are stored, so that the step that settles them wakes the waiter in the same transaction. A wait that
// could never end is refused with the path of the cycle. Also the other ends of a rest: a time, or a message for an agent.

import type { CallRecord } from '../../entities/call.ts'
import type { Delivery } from '../../entities/message.ts'
import { awaitsChildren, isSettled, type Outcome, type TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import { isWaitOver, type WaitParams } from '../../machines/family.ts'
import { cycleError } from '../../machines/task-graph.ts'
import { amend } from './amend.ts'
import { loadLive, type RunRef } from './journal.ts'
import { queueParked } from './park.ts'
import { endRace } from './race.ts'
import { eventOf, loadToChange, type StepContext } from './step-context.ts'
import { awaitedOf, outcomesOf, takeOutcomes } from './wait-outcomes.ts'

/** The outcome of a wait; `open` while it is not over. */
export type WaitState = { open: true } | { open: false; outcomes: Array<Outcome | null> }

/** Records a wait; one that is already over has its outcome at once. */
export function beginWait(entry: NewCall, ctx: StepContext): Step<WaitState> {
  const params = entry.params as WaitParams
  return step('begin wait', function* (tx) {
    yield* loadLive(tx, entry)
    const awaited: TaskRecord[] = []
    for (const id of new Set(params.tasks)) awaited.push(yield* loadToChange(tx, id))
    yield* refuseCycle(tx, entry.taskId, awaited)
    const after = params.untilMessageAfter
    // A message that was sent meanwhile ends the wait before it begins.
    const interrupted = after !== undefined && (yield* tx.message.lastDelivered(entry.taskId)) > after
    const statuses = awaited.map((each) => each.status)
    if (interrupted || isWaitOver(params, statuses)) {
      const outcomes = yield* outcomesOf(tx, params)
      yield* tx.call.insert({ ...entry, status: 'completed', result: outcomes, dueAt: null })
      return { open: false, outcomes }
    }
    yield* tx.call.insert(entry)
    // A settled task too: if it is retried, the wait goes on for it, and until the wait is over its result is needed.
    for (const task of awaited) {
      yield* tx.dependency.insert({
        taskId: entry.taskId,
        blockerId: task.id,
        kind: 'wait',
        callId: entry.id,
        satisfiedAt: isSettled(task.status) ? ctx.at : null,
        createdAt: ctx.at,
      })
    }
    return { open: true }
  })
}

/** @throws ErrandError CYCLE { path } */
function* refuseCycle(tx: Reads, waiter: string, awaited: readonly TaskRecord[]): Op<void> {
  const ids = awaited.map((each) => each.id)
  const above = (yield* tx.task.ancestors(waiter)).find((each) => ids.includes(each.id))
  const open = awaited.filter((each) => !isSettled(each.status)).map((each) => each.id)
  const cycle = above === undefined ? yield* tx.dependency.path(open, new Set([waiter])) : [above.id, waiter]
  if (cycle !== undefined) throw cycleError(`${waiter} cannot wait for ${cycle[0]}`, [waiter, ...cycle])
}

/** Returns the outcome of a recorded wait if it is over. */
export function takeWait(ref: RunRef, callId: string, ctx: StepContext): Step<WaitState> {
  return step('take wait', function* (tx) {
    yield* loadLive(tx, ref)
    const call = yield* tx.call.get(callId)
    if (call?.status !== 'pending') return { open: true }
    const params = call.params as WaitParams
    const statuses = (yield* awaitedOf(tx, params)).map((each) => each?.status ?? 'canceled')
    if (isWaitOver(params, statuses)) return { open: false, outcomes: yield* takeOutcomes(tx, call, ctx.at) }
    // It was over, and one of its tasks has been retried since: the edge is open again, and so is the wait.
    if (call.details !== null) yield* tx.call.save({ ...call, details: null, updatedAt: ctx.at })
    return { open: true }
  })
}

/** A message ends the waits of a task that messages may end, with the outcomes that there are. Returns their ids. */
function* endWaitsByMessage(tx: Tx, task: TaskRecord, ctx: StepContext): Op<string[]> {
  const ended: string[] = []
  for (const { id } of yield* tx.call.open(task.id)) {
    const call = yield* tx.call.get(id)
    // One that lost a race to another one is over.
    if (call?.status !== 'pending' || call.kind !== 'wait') continue
    if ((call.params as WaitParams).untilMessageAfter === undefined) continue
    yield* takeOutcomes(tx, call, ctx.at)
    yield* endRace(tx, task, call.id, ctx)
    ended.push(call.id)
  }
  return ended
}

/** A wait of a task is over by the end of an awaited task: its run takes the outcomes, if the wait has not won a race. */
export function* endWaitOf(tx: Tx, waiter: TaskRecord, call: CallRecord, ctx: StepContext): Op<void> {
  yield* tx.call.save({ ...call, details: { over: true }, updatedAt: ctx.at })
  yield* endRace(tx, waiter, call.id, ctx)
  yield* wake(tx, waiter, call.id, ctx)
}

/** One of a task's waits is over: the task may run again, or its live run goes on. */
export function* wake(tx: Tx, waiter: TaskRecord, callId: string | undefined, ctx: StepContext): Op<TaskRecord> {
  yield* queueParked(tx, waiter)
  const data = callId === undefined ? {} : { callId }
  return yield* amend(tx, waiter, { wakes: waiter.wakes + 1 }, ctx, 'task.unblocked', data)
}

/** Its `notBefore` has passed and is cleared, so that readiness needs no clock. */
export function* endRest(tx: Tx, task: TaskRecord, ctx: StepContext): Op<void> {
  const free = touched(task, ctx.at, { notBefore: null })
  yield* tx.task.save(free)
  if (free.completedAt === null) yield* tx.event.append(eventOf(ctx, 'timer.fired', free))
}

/** A message has just been written: an agent that only waits reads it, by the end of its wait or in a new run. */
export function* wakeByMessage(tx: Tx, task: TaskRecord, delivery: Delivery, ctx: StepContext): Op<void> {
  let current = task
  if (delivery === 'steer') {
    for (const callId of yield* endWaitsByMessage(tx, task, ctx)) current = yield* wake(tx, current, callId, ctx)
  }
  // Its own work was done. Now there is more of it, and its children do not complete it meanwhile. Only the task of an agent has read
  // messages before.
  const isAgents = awaitsChildren(task) && (yield* tx.message.list(task.id)).some((message) => message.step !== null)
  if (isAgents) yield* wake(tx, touched(current, ctx.at, { statusReason: 'message' }), undefined, ctx)
}
