// What a conversation tells people of its calls: a line when one begins and one when it has ended. Marked as announcements, so
// that no model reads them (conformance C-10); each stands in the transaction of what it tells of.

import type { CallRecord } from '../entities/call.ts'
import { interruptedError } from '../entities/call.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { NewCall, Op, Tx } from '../ledger/ledger.ts'
import type { Moment } from './moment.ts'
import { writeLine } from './write-message.ts'

/** The id of the line. */
export function* announceStart(tx: Tx, task: TaskRecord, call: NewCall, moment: Moment): Op<string> {
  return yield* announce(tx, task, lineId(call.id, 'start'), `🔧 Calling ${call.name}...`, moment)
}

/** The id of the line, or null for a call whose beginning was not told. A crash is told of whatever it broke off. */
export function* announceEnd(tx: Tx, task: TaskRecord, call: CallRecord, moment: Moment): Op<string | null> {
  if (call.kind !== 'call') return call.endMessageId
  const crashed = call.error?.message === interruptedError(call.name).message
  if (call.startMessageId === null && !crashed) return call.endMessageId
  return yield* announce(tx, task, lineId(call.id, 'end'), endOf(call, crashed), moment)
}

function endOf({ name, error }: CallRecord, crashed: boolean): string {
  if (error === null) return `✓ ${name} completed`
  return crashed ? `✗ ${name} failed due to process crash` : `✗ ${name} failed: ${error.message}`
}

/** One of each kind for a call: its id follows from the call's. */
function lineId(callId: string, which: 'start' | 'end'): string {
  return `${callId.replace(/^call-/, 'msg-')}-${which}`
}

export function* announce(tx: Tx, task: TaskRecord, id: string, content: string, moment: Moment): Op<string> {
  yield* writeLine(tx, task, { id, role: 'assistant', content, announcement: true }, moment)
  return id
}
