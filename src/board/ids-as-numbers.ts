// Replaces task ids in the engine's messages by board numbers.
import { ErrandError } from '../core/errors.ts'
import { idsInText, replaceIds } from '../entities/task-id.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

/** The text with numbers for ids; ids of tasks that are not on this board stay. */
export function* textWithNumbers(tx: Reads, board: string, text: string): Op<string> {
  const numbers = new Map<string, number>()
  for (const id of idsInText(text)) {
    const entry = yield* tx.board.entryOf(board, id)
    if (entry !== undefined) numbers.set(id, entry.number)
  }
  return replaceIds(text, (id, at) => (numbers.has(id) ? `${at === 0 ? 'Task' : 'task'} ${numbers.get(id)}` : id))
}

/** Runs a part of a step, with numbers for ids in its errors. Errors other than `ErrandError` are rethrown unchanged. */
export function* withNumbers<R>(tx: Reads, board: string, part: Op<R>): Op<R> {
  try {
    return yield* part
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    const message = yield* textWithNumbers(tx, board, error.message)
    throw message === error.message ? error : new ErrandError(error.code, message, error.details)
  }
}
