// Below a canceled task everything has ended for good: nothing there starts, is tried again or is added. What had settled before the
// cancel keeps its state, so the tasks above are asked.
import type { TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

/** The topmost canceled task above this one. */
export function* canceledAbove(tx: Reads, id: string): Op<TaskRecord | undefined> {
  return (yield* tx.task.ancestors(id)).findLast((above) => above.status === 'canceled')
}

export function belowCanceled(what: string, { id, name }: TaskRecord, parentId: string | null): ErrandError {
  return new ErrandError(
    'PARENT_CLOSED',
    `Cannot ${what}: ${id} (${name}), which it is below, was canceled, and nothing below starts again. Create a new task elsewhere.`,
    { parentId, status: 'canceled', canceled: id },
  )
}
