// Which tasks of the board a step has unblocked, by the events of the step, so that indirect effects (a parent that ended with its last child,
// say) count as well.
import { type BoardTask, boardStatusOf } from '../entities/board.ts'
import { seeingEvents } from '../ledger/appended-events.ts'
import type { NewEvent, Op, Reads } from '../ledger/ledger.ts'
import type { BoardTarget } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { isWithin } from './task-ref.ts'

/**
 * Runs a part of a step. Returns the tasks of this board that it has unblocked, by number, within the caller's task; `except` is the task
 * that was changed.
 */
export function* unblockedBy(tx: Reads, target: BoardTarget, part: Op<unknown>, except: string): Op<BoardTask[]> {
  const ids = new Set<string>()
  yield* seeingEvents(part, (event) => {
    if (isUnblocking(event)) ids.add(event.taskId)
  })
  const found: BoardTask[] = []
  for (const id of ids) {
    const task = yield* tx.task.get(id)
    if (id === except || task === undefined || task.deletedAt !== null || task.openBlockers > 0) continue
    const entry = yield* tx.board.entryOf(target.board, id)
    if (entry === undefined || boardStatusOf(task) !== 'pending' || !(yield* isWithin(tx, target, id))) continue
    found.push(yield* viewTask(tx, target.board, task, entry))
  }
  return found.sort((a, b) => a.id - b.id)
}

/** The end of a wait has the same event type; only one about a dependency names it. */
function isUnblocking({ type, data }: NewEvent): boolean {
  return type === 'task.unblocked' && ('by' in data || 'removed' in data)
}
