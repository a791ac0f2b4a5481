// Which tasks of the board came free by a step: read from what the step itself has told of them, so that what it set off in turn
// (a parent that ended with its last part, say) counts as well.
import { type BoardTask, boardStatusOf } from '../entities/board.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { BoardPlace } from './board-host.ts'
import { viewTask } from './board-view.ts'
import { isWithin } from './task-ref.ts'

/** Events read at once. */
const eventsAtOnce = 1_000

/** By number; only tasks of this board, and below a bounded caller's task. `except` is the one that was written. */
export function* freedSince(tx: Reads, place: BoardPlace, since: number, except: string): Op<BoardTask[]> {
  const found: BoardTask[] = []
  for (const id of yield* unblockedSince(tx, since)) {
    const task = yield* tx.task.get(id)
    if (id === except || task === undefined || task.deletedAt !== null || task.openBlockers > 0) continue
    const entry = yield* tx.board.entryOf(place.board, id)
    if (entry === undefined || boardStatusOf(task) !== 'pending' || !(yield* isWithin(tx, place, id))) continue
    found.push(yield* viewTask(tx, place.board, task, entry))
  }
  return found.sort((a, b) => a.id - b.id)
}

/** A wait that is over is told by the same event; a dependency says which one it was. */
function* unblockedSince(tx: Reads, since: number): Op<Set<string>> {
  const ids = new Set<string>()
  for (let after = since; ; ) {
    const events = yield* tx.event.after(after, eventsAtOnce)
    for (const { type, taskId, data } of events) {
      if (type === 'task.unblocked' && ('by' in data || 'removed' in data)) ids.add(taskId)
    }
    const last = events.at(-1)
    if (last === undefined || events.length < eventsAtOnce) return ids
    after = last.seq
  }
}
