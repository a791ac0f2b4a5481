// The journal's steps: what a live run asks for is recorded before it acts, its outcome after. Every one of them checks, in
// its own transaction, that the run is still the task's own: that is the fence.
import type { CallRecord } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import { ErrandError, type StoredError } from '../errors.ts'
import type { NewCall, NewMessage, Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { eventOf, type Moment } from './moment.ts'

/** Which run asks. */
export interface RunRef {
  taskId: string
  run: number
}

export function runEnded(ref: RunRef, why = 'its task is no longer WORKING in it'): ErrandError {
  return new ErrandError(
    'RUN_ENDED',
    `Run ${ref.run} of ${ref.taskId} has ended: ${why}. Let the executor return; the next run finds what was recorded.`,
    { taskId: ref.taskId, run: ref.run },
  )
}

/** Loads the task of a live run, or refuses. */
export function* loadLive(tx: Reads, ref: RunRef): Op<TaskRecord> {
  const task = yield* tx.task.get(ref.taskId)
  if (!task || task.run !== ref.run || task.status !== 'working') throw runEnded(ref)
  return task
}

/** Records an entry before it acts. */
export function beginEntry(entry: NewCall, moment: Moment): Step<TaskRecord, TaskRecord, void> {
  return {
    name: `begin ${entry.kind}`,
    load: (tx) => loadLive(tx, entry),
    judge: (task) => task,
    *write(tx, task): Op<void> {
      yield* tx.call.insert(entry)
      // A question is published when the run has ended for it (suspend.ts): before that nobody could answer it.
      if (entry.kind !== 'call') return
      yield* tx.event.append(
        eventOf(moment, 'call.started', task, {
          callId: entry.id,
          tool: entry.name,
          args: entry.params,
          run: entry.run,
        }),
      )
    },
  }
}

/** Keeps details of a call in progress, while its run is open. */
export function noteEntry(
  ref: RunRef,
  callId: string,
  details: unknown,
  moment: Moment,
): Step<CallRecord, CallRecord, void> {
  return {
    name: 'note call',
    load: (tx) => loadOpenEntry(tx, ref, callId),
    judge: (call) => call,
    *write(tx, call): Op<void> {
      yield* tx.call.save({ ...call, details, updatedAt: moment.at })
    },
  }
}

export type EntryOutcome = { ok: true; result: unknown } | { ok: false; error: StoredError }

/** Records the outcome of an entry. A call may still end while its run is ending: its result is not lost. */
export function finishEntry(
  ref: RunRef,
  callId: string,
  outcome: EntryOutcome,
  moment: Moment,
): Step<{ call: CallRecord; task: TaskRecord }, { call: CallRecord; task: TaskRecord }, void> {
  return {
    name: 'finish call',
    *load(tx) {
      const call = yield* loadOpenEntry(tx, ref, callId)
      return { call, task: (yield* tx.task.get(ref.taskId)) as TaskRecord }
    },
    judge: (loaded) => loaded,
    *write(tx, { call, task }): Op<void> {
      yield* tx.call.save({
        ...call,
        status: outcome.ok ? 'completed' : 'failed',
        result: outcome.ok ? outcome.result : null,
        error: outcome.ok ? null : outcome.error,
        dueAt: null,
        updatedAt: moment.at,
      })
      if (call.kind === 'wait') yield* tx.dependency.satisfyWaits(call.id, moment.at)
      if (call.kind !== 'call') return
      yield* tx.event.append(
        outcome.ok
          ? eventOf(moment, 'call.completed', task, { callId, tool: call.name, result: outcome.result })
          : eventOf(moment, 'call.failed', task, { callId, tool: call.name, error: outcome.error }),
      )
    },
  }
}

function* loadOpenEntry(tx: Reads, ref: RunRef, callId: string): Op<CallRecord> {
  const task = yield* tx.task.get(ref.taskId)
  if (!task || task.run !== ref.run || !task.runOpen) throw runEnded(ref, 'it was closed')
  const call = yield* tx.call.get(callId)
  if (!call || (call.status !== 'in_progress' && call.status !== 'pending'))
    throw runEnded(ref, `its call ${callId} was closed`)
  return call
}

/** Appends a message of the run. */
export function appendMessage(ref: RunRef, message: NewMessage, moment: Moment): Step<TaskRecord, TaskRecord, void> {
  return {
    name: 'append message',
    load: (tx) => loadLive(tx, ref),
    judge: (task) => task,
    *write(tx, task): Op<void> {
      yield* writeMessage(tx, task, message, moment)
    },
  }
}

/** The row and its event; the text stays in the row alone. */
export function* writeMessage(tx: Tx, task: TaskRecord, message: NewMessage, moment: Moment): Op<void> {
  const n = yield* tx.message.append(message)
  yield* tx.event.append(
    eventOf(moment, 'message.appended', task, { messageId: message.id, role: message.role, n, run: message.run }),
  )
}

/** Keeps a batch of output. */
export function writeOutput(ref: RunRef, text: string, moment: Moment): Step<TaskRecord, TaskRecord, void> {
  return {
    name: 'write output',
    *load(tx): Op<TaskRecord> {
      const task = yield* tx.task.get(ref.taskId)
      if (!task || task.run !== ref.run || !task.runOpen) throw runEnded(ref, 'it was closed')
      return task
    },
    judge: (task) => task,
    *write(tx, task): Op<void> {
      yield* tx.event.append(eventOf(moment, 'output.written', task, { text, run: ref.run }))
    },
  }
}

export function reportProgress(
  ref: RunRef,
  fraction: number,
  note: string | null,
  moment: Moment,
): Step<TaskRecord, TaskRecord, void> {
  return {
    name: 'report progress',
    load: (tx) => loadLive(tx, ref),
    judge: (task) => ({ ...task, progress: { fraction, note, at: moment.at }, updatedAt: moment.at }),
    *write(tx, task): Op<void> {
      yield* tx.task.saveProgress(task)
      yield* tx.event.append(eventOf(moment, 'progress.reported', task, { fraction, note, run: ref.run }))
    },
  }
}
