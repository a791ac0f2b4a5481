// What the engine says of tasks by their ids, said again in the numbers that readers of the board know.
import { ErrandError } from '../core/errors.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

const taskIds = /\btask-[a-z0-9]+/g

/** The same text; tasks that are on no board, or on another one, keep their ids. */
export function* textInNumbers(tx: Reads, board: string, text: string): Op<string> {
  const numbers = new Map<string, number>()
  for (const id of new Set(text.match(taskIds))) {
    const entry = yield* tx.board.entryOf(board, id)
    if (entry !== undefined) numbers.set(id, entry.number)
  }
  return text.replaceAll(taskIds, (id, at: number) =>
    numbers.has(id) ? `${at === 0 ? 'Task' : 'task'} ${numbers.get(id)}` : id,
  )
}

/** Does a part of a step; what refuses it speaks in numbers. What is none of our errors is thrown on as it is. */
export function* withNumbers<R>(tx: Reads, board: string, part: Op<R>): Op<R> {
  try {
    return yield* part
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    const message = yield* textInNumbers(tx, board, error.message)
    throw message === error.message ? error : new ErrandError(error.code, message, error.details)
  }
}
