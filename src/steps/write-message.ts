// One message of a conversation: its row, and the event that tells of it. The text stays in the row alone.
import type { Delivery } from '../entities/message.ts'
import type { NewMessage, NewTask, Op, Tx } from '../ledger/ledger.ts'
import { eventOf, type Moment } from './moment.ts'

export function* writeMessage(tx: Tx, task: NewTask, message: NewMessage, moment: Moment): Op<void> {
  const n = yield* tx.message.append(message)
  const { id, role, run, announcement } = message
  yield* tx.event.append(
    eventOf(moment, 'message.appended', task, {
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

export function* writeLine(tx: Tx, task: NewTask, line: Line, moment: Moment): Op<void> {
  const { id, role, content, delivery = null, announcement = false, timestamp = moment.at } = line
  const said = { id, taskId: task.id, role, content, announcement, delivery, timestamp }
  yield* writeMessage(tx, task, { ...said, step: null, run: null, ident: null, ordinal: 0 }, moment)
}
