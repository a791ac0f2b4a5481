// One message of a conversation: its row, and the event that tells of it. The text stays in the row alone. And what a conversation tells
// people of its calls: a line when one begins and one when it has ended, marked as announcements, so that no model reads them
// (conformance C-10); each stands in the transaction of what it tells of.
import { type CallRecord, interruptedError } from '../entities/call.ts'
import type { Delivery } from '../entities/message.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { NewCall, NewMessage, NewTask, Op, Tx } from '../ledger/ledger.ts'
import { eventOf, type StepContext } from './step-context.ts'

export function* writeMessage(tx: Tx, task: NewTask, message: NewMessage, ctx: StepContext): Op<void> {
  const n = yield* tx.message.append(message)
  const { id, role, run, announcement } = message
  yield* tx.event.append(
    eventOf(ctx, 'message.appended', task, {
      messageId: id,
      role,
      n,
      run,
      ...(announcement ? { announcement } : {}),
    }),
  )
}

/** A line that no run has written: said from outside, or by the engine to people. */
export interface Line extends Pick<NewMessage, 'id' | 'role' | 'content'> {
  delivery?: Delivery | null
  announcement?: boolean
  timestamp?: number
}

export function* writeLine(tx: Tx, task: NewTask, line: Line, ctx: StepContext): Op<void> {
  const { id, role, content, delivery = null, announcement = false, timestamp = ctx.at } = line
  const said = { id, taskId: task.id, role, content, announcement, delivery, timestamp }
  yield* writeMessage(tx, task, { ...said, step: null, run: null, ident: null, ordinal: 0 }, ctx)
}

/** The id of the line. */
export function* announceStart(tx: Tx, task: TaskRecord, call: NewCall, ctx: StepContext): Op<string> {
  return yield* announce(tx, task, lineId(call.id, 'start'), `🔧 Calling ${call.name}...`, ctx)
}

/** The id of the line, or null for a call whose beginning was not told. A crash is told of whatever it broke off. */
export function* announceEnd(tx: Tx, task: TaskRecord, call: CallRecord, ctx: StepContext): Op<string | null> {
  if (call.kind !== 'call') return call.endMessageId
  const crashed = call.error?.message === interruptedError(call.name).message
  if (call.startMessageId === null && !crashed) return call.endMessageId
  return yield* announce(tx, task, lineId(call.id, 'end'), endOf(call, crashed), ctx)
}

function endOf({ name, error }: CallRecord, crashed: boolean): string {
  if (error === null) return `✓ ${name} completed`
  return crashed ? `✗ ${name} failed due to process crash` : `✗ ${name} failed: ${error.message}`
}

/** One of each kind for a call: its id follows from the call's. */
function lineId(callId: string, which: 'start' | 'end'): string {
  return `${callId.replace(/^call-/, 'msg-')}-${which}`
}

export function* announce(tx: Tx, task: TaskRecord, id: string, content: string, ctx: StepContext): Op<string> {
  yield* writeLine(tx, task, { id, role: 'assistant', content, announcement: true }, ctx)
  return id
}
