// Writes one message of a conversation: its row, and the event, which does not contain the text. Also the announcements of calls for
// people: a line when a call begins and one when it has ended, in the transaction that they report. They are marked, so that no model reads
// them.
import { type CallRecord, interruptedError } from '../../entities/call.ts'
import type { Delivery } from '../../entities/message.ts'
import type { NewCall, NewMessage, Op, Tx } from '../../ledger/ledger.ts'
import { type EventTask, eventOf, type StepContext } from './step-context.ts'

export function* writeMessage(tx: Tx, task: EventTask, message: NewMessage, ctx: StepContext): Op<void> {
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

/** A line that no run has written: a message from outside, or an announcement of the engine. */
export interface Line extends Pick<NewMessage, 'id' | 'role' | 'content'> {
  delivery?: Delivery | null
  announcement?: boolean
  timestamp?: number
}

export function* writeLine(tx: Tx, task: EventTask, line: Line, ctx: StepContext): Op<void> {
  const { id, role, content, delivery = null, announcement = false, timestamp = ctx.at } = line
  const said = { id, taskId: task.id, role, content, announcement, delivery, timestamp }
  yield* writeMessage(tx, task, { ...said, step: null, run: null, generation: null, ident: null, ordinal: 0 }, ctx)
}

/** Returns the id of the line. */
export function* announceStart(tx: Tx, task: EventTask, call: NewCall, ctx: StepContext): Op<string> {
  return yield* announce(tx, task, lineId(call.id, 'start'), `🔧 Calling ${call.name}...`, ctx)
}

/**
 * Returns the id of the line, or null for a call whose start was not announced. A crash is announced for every call that it interrupted.
 */
export function* announceEnd(tx: Tx, task: EventTask, call: CallRecord, ctx: StepContext): Op<string | null> {
  if (call.kind !== 'call') return call.endMessageId
  const crashed = call.error?.message === interruptedError(call.name).message
  if (call.startMessageId === null && !crashed) return call.endMessageId
  return yield* announce(tx, task, lineId(call.id, 'end'), endOf(call, crashed), ctx)
}

function endOf({ name, error, resultLost }: CallRecord, crashed: boolean): string {
  if (resultLost !== null) return `✓ ${name} completed, but its result could not be recorded: ${resultLost}`
  if (error === null) return `✓ ${name} completed`
  return crashed ? `✗ ${name} failed due to process crash` : `✗ ${name} failed: ${error.message}`
}

/** One of each kind for a call: its id is derived from the id of the call. */
export function lineId(callId: string, which: 'start' | 'end'): string {
  return `${callId.replace(/^call-/, 'msg-')}-${which}`
}

export function* announce(tx: Tx, task: EventTask, id: string, content: string, ctx: StepContext): Op<string> {
  yield* writeLine(tx, task, { id, role: 'assistant', content, announcement: true }, ctx)
  return id
}
