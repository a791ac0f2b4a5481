// Which tasks of the board a step has unblocked, read from the events of the step, so that indirect effects (a parent that ended
// with its last child, say) count as well.
import { type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskEvent } from '../entities/event.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { isWithin } from './task-ref.ts'

/** Returns the unblocked tasks of this board by number, within the caller's task; `except` is the task that was changed. */
export function* unblockedSince(tx: Reads, target: BoardTarget, since: number, except: string): Op<BoardTask[]> {
  const found: BoardTask[] = []
  const events = yield* everyRow((after, limit) => tx.event.after(Math.max(after, since), limit), isUnblocking)
  for (const id of new Set(events.map(({ taskId }) => taskId))) {
    const task = yield* tx.task.get(id)
    if (id === except || task === undefined || task.deletedAt !== null || task.openBlockers > 0) continue
    const entry = yield* tx.board.entryOf(target.board, id)
    if (entry === undefined || boardStatusOf(task) !== 'pending' || !(yield* isWithin(tx, target, id))) continue
    found.push(yield* viewTask(tx, target.board, task, entry))
  }
  return found.sort((a, b) => a.id - b.id)
}

/** The end of a wait has the same event type; only one about a dependency names it. */
function isUnblocking({ type, data }: TaskEvent): boolean {
  return type === 'task.unblocked' && ('by' in data || 'removed' in data)
}
