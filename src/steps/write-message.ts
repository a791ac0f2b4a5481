// One message of a conversation: its row, and the event that tells of it. The text stays in the row alone.
import type { TaskRecord } from '../entities/task.ts'
import type { NewMessage, Op, Tx } from '../ledger/ledger.ts'
import { eventOf, type Moment } from './moment.ts'

/** Its number within the task. */
export function* writeMessage(tx: Tx, task: TaskRecord, message: NewMessage, moment: Moment): Op<number> {
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
  return n
}
