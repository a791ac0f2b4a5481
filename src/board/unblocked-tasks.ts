// Which tasks of the board came free by a step: read from what the step itself has told of them, so that what it set off in turn
// (a parent that ended with its last part, say) counts as well.
import { type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { TaskEvent } from '../entities/event.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { isWithin } from './task-ref.ts'

/** By number; only tasks of this board, and below a bounded caller's task. `except` is the one that was written. */
export function* freedSince(tx: Reads, place: BoardTarget, since: number, except: string): Op<BoardTask[]> {
  const found: BoardTask[] = []
  const events = yield* everyRow((after, limit) => tx.event.after(Math.max(after, since), limit), isUnblocking)
  for (const id of new Set(events.map(({ taskId }) => taskId))) {
    const task = yield* tx.task.get(id)
    if (id === except || task === undefined || task.deletedAt !== null || task.openBlockers > 0) continue
    const entry = yield* tx.board.entryOf(place.board, id)
    if (entry === undefined || boardStatusOf(task) !== 'pending' || !(yield* isWithin(tx, place, id))) continue
    found.push(yield* viewTask(tx, place.board, task, entry))
  }
  return found.sort((a, b) => a.id - b.id)
}

/** A wait that is over is told by the same event; a dependency says which one it was. */
function isUnblocking({ type, data }: TaskEvent): boolean {
  return type === 'task.unblocked' && ('by' in data || 'removed' in data)
}
