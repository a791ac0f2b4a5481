// What ends a task's rest: its time has come, one of its waits is over, or a message has come that an agent is to take up.
import type { Delivery } from '../entities/message.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { awaitsChildren } from '../machines/family.ts'
import { touched } from '../machines/task-transition.ts'
import { eventOf, type Moment } from './moment.ts'
import { endWaitsByMessage } from './wait.ts'

/** One of a task's waits is over: it may run again, or its live run goes on. */
export function* wake(tx: Tx, waiter: TaskRecord, callId: string | undefined, moment: Moment): Op<TaskRecord> {
  const woken = touched(waiter, moment.at, { wakes: waiter.wakes + 1 })
  yield* tx.task.save(woken)
  yield* tx.event.append(eventOf(moment, 'task.unblocked', woken, callId === undefined ? {} : { callId }))
  return woken
}

/** Its `notBefore` has passed: cleared, so that readiness needs no clock. */
export function* endRest(tx: Tx, task: TaskRecord, moment: Moment): Op<void> {
  const free = touched(task, moment.at, { notBefore: null })
  yield* tx.task.save(free)
  if (free.completedAt === null) yield* tx.event.append(eventOf(moment, 'timer.fired', free))
}

/** A message has just been written: an agent that only waits takes it up, by the end of its wait or in a new run. */
export function* rouse(tx: Tx, task: TaskRecord, delivery: Delivery, moment: Moment): Op<void> {
  let current = task
  if (delivery === 'steer') {
    for (const callId of yield* endWaitsByMessage(tx, task, moment.at))
      current = yield* wake(tx, current, callId, moment)
  }
  // Its own work was done; now there is more of it, and its children do not complete it meanwhile. Only a task that has heard
  // messages before is an agent's.
  const isAgents = awaitsChildren(task) && (yield* tx.message.list(task.id)).some((message) => message.step !== null)
  if (isAgents) yield* wake(tx, touched(current, moment.at, { statusReason: 'message' }), undefined, moment)
}
