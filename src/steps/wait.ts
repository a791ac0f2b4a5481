// Waiting for other tasks: the edges are stored, so that whoever settles them wakes the waiter in the same transaction. A wait
// that could never end is refused with the path of the cycle.

import type { CallRecord } from '../entities/call.ts'
import { isSettled, type Outcome, outcomeOf, type TaskRecord } from '../entities/task.ts'
import { inThree } from '../ledger/in-three.ts'
import type { NewCall, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { isWaitOver, type WaitParams } from '../machines/family.ts'
import { cycleError } from '../machines/task-graph.ts'
import { loadLive, type RunRef } from './journal.ts'
import { loadTask, type Moment } from './moment.ts'

interface Loaded {
  awaited: TaskRecord[]
  /** A message that was sent meanwhile has ended it before it began. */
  interrupted: boolean
  cycle: string[] | undefined
}

/** What a wait came to: `open` while it is not over. */
export type WaitState = { open: true } | { open: false; outcomes: Array<Outcome | null> }

/** Records a wait; one that is over already has its outcome at once. */
export function beginWait(entry: NewCall, moment: Moment): Step<WaitState> {
  const params = entry.params as WaitParams
  return inThree<Loaded, Loaded, WaitState>({
    name: 'begin wait',
    *load(tx): Op<Loaded> {
      yield* loadLive(tx, entry)
      const awaited: TaskRecord[] = []
      for (const id of params.tasks) awaited.push(yield* loadTask(tx, id))
      const ancestors = (yield* tx.task.ancestors(entry.taskId)).map((each) => each.id)
      const above = params.tasks.find((id) => ancestors.includes(id))
      const open = awaited.filter((each) => !isSettled(each.status)).map((each) => each.id)
      const cycle =
        above === undefined ? yield* tx.dependency.path(open, new Set([entry.taskId])) : [above, entry.taskId]
      const after = params.untilMessageAfter
      const interrupted = after !== undefined && (yield* tx.message.lastDelivered(entry.taskId)) > after
      return { awaited, interrupted, cycle }
    },
    judge(loaded) {
      if (loaded.cycle === undefined) return loaded
      throw cycleError(`${entry.taskId} cannot wait for ${loaded.cycle[0]}`, [entry.taskId, ...loaded.cycle])
    },
    *write(tx, { awaited, interrupted }): Op<WaitState> {
      const statuses = awaited.map((each) => each.status)
      if (interrupted || isWaitOver(params, statuses)) {
        const outcomes = awaited.map((each) => outcomeOf(each) ?? null)
        yield* tx.call.insert({ ...entry, status: 'completed', result: outcomes, dueAt: null })
        return { open: false, outcomes }
      }
      yield* tx.call.insert(entry)
      for (const task of new Map(awaited.map((each) => [each.id, each])).values()) {
        if (isSettled(task.status)) continue
        yield* tx.dependency.insert({
          taskId: entry.taskId,
          blockerId: task.id,
          kind: 'wait',
          callId: entry.id,
          satisfiedAt: null,
          createdAt: moment.at,
        })
      }
      return { open: true }
    },
  })
}

/** Takes up the outcome of a recorded wait if it is over. */
export function takeWait(ref: RunRef, callId: string, moment: Moment): Step<WaitState> {
  return inThree<CallRecord | undefined, CallRecord | undefined, WaitState>({
    name: 'take wait',
    *load(tx) {
      yield* loadLive(tx, ref)
      return yield* tx.call.get(callId)
    },
    judge: (call) => call,
    *write(tx, call): Op<WaitState> {
      if (call?.status !== 'pending') return { open: true }
      const params = call.params as WaitParams
      const awaited = yield* awaitedOf(tx, params)
      const statuses = awaited.map((each) => each?.status ?? 'canceled')
      if (!isWaitOver(params, statuses)) {
        // It was over, and one of its tasks has been tried again since: the edge is open anew, and so is the wait.
        if (call.details !== null) yield* tx.call.save({ ...call, details: null, updatedAt: moment.at })
        return { open: true }
      }
      const outcomes = awaited.map((each) => (each ? (outcomeOf(each) ?? null) : null))
      yield* tx.call.save({ ...call, status: 'completed', result: outcomes, dueAt: null, updatedAt: moment.at })
      yield* tx.dependency.satisfyWaits(callId, moment.at)
      return { open: false, outcomes }
    },
  })
}

/** A message ends the waits of a task that it may end, with what there is by now. Their ids. */
export function* endWaitsByMessage(tx: Tx, task: TaskRecord, at: number): Op<string[]> {
  const ended: string[] = []
  for (const call of yield* tx.call.open(task.id)) {
    if (call.kind !== 'wait' || (call.params as WaitParams).untilMessageAfter === undefined) continue
    const awaited = yield* awaitedOf(tx, call.params as WaitParams)
    const outcomes = awaited.map((each) => (each ? (outcomeOf(each) ?? null) : null))
    yield* tx.call.save({ ...call, status: 'completed', result: outcomes, dueAt: null, updatedAt: at })
    yield* tx.dependency.satisfyWaits(call.id, at)
    ended.push(call.id)
  }
  return ended
}

function* awaitedOf(tx: Reads, params: WaitParams): Op<Array<TaskRecord | undefined>> {
  const found: Array<TaskRecord | undefined> = []
  for (const id of params.tasks) found.push(yield* tx.task.get(id))
  return found
}
