// Signals: the oldest open wait for the name takes one at once, else it is kept until such a wait begins. A wait takes a signal in the
// transaction that records both.
import { ErrandError, type StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { MachineEvent } from '../../entities/machine.ts'
import { maxKeptSignals } from '../../entities/signal.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { acceptedEvents } from '../../machines/task-edges.ts'
import { GivenAnswer } from './answer-schema.ts'
import { loadLive } from './journal.ts'
import { type MachinesHere, SignalAtRest, storeMove } from './machine-at-rest.ts'
import { endRace, type WaitBegun } from './race.ts'
import { eventOf, loadToChange, type StepContext } from './step-context.ts'
import { wake } from './wait.ts'

export interface SignalRequest extends StepContext {
  taskId: string
  name: string
  payload: unknown
  /** A signal of this name that was sent with this id is not sent again; null: each is another one. */
  sentId: string | null
  /** The machines of this engine; absent: it moves none without a run. */
  machines?: MachinesHere | undefined
}

/** Returns false for a repetition. Run it with `matchingOutside`. */
export function signal(request: SignalRequest): Step<boolean> {
  const given = new GivenAnswer(request.payload)
  const atRest = request.machines && new SignalAtRest(request.machines, request)
  return step('signal', function* (tx) {
    const { taskId, name, payload, sentId, at } = request
    const task = yield* loadToChange(tx, taskId)
    if (sentId !== null && (yield* tx.signal.wasSent(taskId, name, sentId))) return false
    requireOpen(task, name)
    const wait = (yield* tx.call.open(taskId)).find((entry) => entry.kind === 'signal' && entry.name === name)
    const problem = wait && given.problemWith(wait)
    if (problem !== undefined) throw problem
    const machine =
      wait === undefined ? (yield* tx.call.open(taskId)).find(({ kind }) => kind === 'machine') : undefined
    if (machine !== undefined && (yield* tx.signal.oldestKept(taskId)) === undefined) {
      const move = atRest?.moveOf(task, machine, request)
      if (move !== undefined) {
        const takenBy = `${machine.id}/${move.state.step}`
        yield* tx.signal.insert({ taskId, name, sentId, createdAt: at, payload: null, takenBy })
        const ids = { ...(sentId === null ? {} : { signalId: sentId }), callId: machine.id }
        yield* tx.event.append(eventOf(request, 'signal.received', task, { signal: name, ...ids }))
        yield* storeMove(tx, task, machine, move, name, request)
        return true
      }
    }
    if (wait === undefined) yield* requireRoom(tx, task)
    const taken = wait === undefined ? { payload, takenBy: null } : { payload: null, takenBy: wait.id }
    yield* tx.signal.insert({ taskId, name, sentId, createdAt: at, ...taken })
    const ids = { ...(sentId === null ? {} : { signalId: sentId }), ...(wait === undefined ? {} : { callId: wait.id }) }
    yield* tx.event.append(eventOf(request, 'signal.received', task, { signal: name, ...ids }))
    if (wait !== undefined) yield* endWait(tx, task, wait, payload, request)
    // It takes them in a macrostep, in the order of arrival.
    else if (machine !== undefined) yield* wake(tx, task, machine.id, request)
    return true
  })
}

/** A send of a machine, or of one of its actions. A task that has settled gets nothing, as an actor that was stopped. */
export function sendToTask(to: string, event: MachineEvent, ctx: StepContext): Step<unknown> {
  const sending = signal({ ...ctx, taskId: to, name: event.type, payload: event, sentId: null })
  return step('send to task', function* (tx) {
    const task = yield* tx.task.get(to)
    if (task !== undefined && isSettled(task.status)) return
    yield* sending.decide(tx)
  })
}

function* endWait(tx: Tx, task: TaskRecord, wait: CallRecord, payload: unknown, ctx: StepContext): Op<void> {
  yield* tx.call.save({ ...wait, status: 'completed', result: payload, dueAt: null, updatedAt: ctx.at })
  yield* endRace(tx, task, wait.id, ctx)
  yield* wake(tx, task, wait.id, ctx)
}

function requireOpen({ id: taskId, status }: TaskRecord, name: string): void {
  if (!isSettled(status)) return
  const help = status === 'failed' ? 'Give it a new attempt with `retry`, and send it again.' : 'It is final.'
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot send the signal "${name}" to ${taskId}: it is ${status}. ${help}`,
    {
      taskId,
      from: status,
      event: 'signal',
      allowed: [...acceptedEvents(status)],
    },
  )
}

function* requireRoom(tx: Reads, { id: taskId }: TaskRecord): Op<void> {
  if ((yield* tx.signal.countKept(taskId)) < maxKeptSignals) return
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `${taskId} has not waited for ${maxKeptSignals} signals that it was sent, and no more are kept for it. Send this one again when it has taken some.`,
    { taskId, limit: maxKeptSignals },
  )
}

/**
 * Records a wait for a signal; one that was kept is taken at once. If its payload does not match the schema, the wait has failed, and the
 * signal is taken all the same: the next wait gets the next one. Run it with `matchingOutside`.
 */
export function beginSignalWait(entry: NewCall, ctx: StepContext): Step<WaitBegun> {
  const { taskId, name } = entry
  let given: { seq: number; payload: GivenAnswer } | undefined
  return step('begin signal wait', function* (tx) {
    yield* loadLive(tx, entry)
    const kept = yield* tx.signal.kept(taskId, name)
    if (kept === undefined) {
      yield* tx.call.insert(entry)
      return { open: true }
    }
    if (given?.seq !== kept.seq) given = { seq: kept.seq, payload: new GivenAnswer(kept.payload) }
    const problem = given.payload.problemWith(entry)
    const ended = { ...entry, dueAt: null, updatedAt: ctx.at }
    yield* tx.signal.take(kept, entry.id)
    if (problem === undefined) {
      yield* tx.call.insert({ ...ended, status: 'completed', result: kept.payload })
      return { open: false, outcomes: kept.payload }
    }
    const { code, message, details } = problem
    const failed: StoredError = { code, message, details }
    yield* tx.call.insert({ ...ended, status: 'failed', error: failed })
    return { open: false, failed }
  })
}
