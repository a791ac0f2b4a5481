// Numbers of tasks on a board: each task gets the next one, by age, and keeps it forever. Numbers are assigned when a board is read,
// so that a ledger without boards pays nothing, and in a transaction, so that each is assigned once.
import { type Caller, libraryCaller, mayAffect } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { type BoardFields, type BoardRecord, mainBoard } from '../entities/board.ts'
import { all, type Op, type Reads, type Tx } from '../ledger/ledger.ts'
import { requestedBy, type StepContext } from '../operations/steps/step-context.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'

/** Tasks numbered per transaction. */
const numberingBatchSize = 500

/**
 * Returns the board. The main board always exists, stored or not. With a caller, who means to add to the board: one below a task that
 * this caller may not affect is reported as not found. `purpose`: the step gives a task a number, or all tasks that have none.
 * @throws ErrandError NOT_FOUND
 */
export function* loadBoard(
  tx: Reads,
  name: string,
  at: number,
  caller: Caller = libraryCaller,
  purpose: 'get' | 'toAdd' | 'toNumber' = 'get',
): Op<BoardRecord> {
  const found = yield* tx.board[purpose](name)
  if (found !== undefined && (yield* mayAddTo(tx, found, caller))) return found
  if (name === mainBoard) return { name, parentId: null, nextNumber: 1, seenSeq: 0, createdAt: at }
  const known = new Set([mainBoard])
  for (const board of yield* tx.board.list()) if (yield* mayAddTo(tx, board, caller)) known.add(board.name)
  throw new ErrandError('NOT_FOUND', `There is no board "${name}". Boards: ${[...known].join(', ')}.`, { board: name })
}

function* mayAddTo(tx: Reads, { parentId }: BoardRecord, caller: Caller): Op<boolean> {
  // Most callers may affect all tasks.
  if (parentId === null || mayAffect(caller, undefined)) return true
  return mayAffect(caller, (yield* tx.task.get(parentId))?.principal)
}

/**
 * Returns the board for the tasks below a parent; creates it if there is none.
 * @throws ErrandError KEY_CONFLICT when the name belongs to the board of another task; INVALID_INPUT for a parent of the main board.
 */
export function* openBoard(
  tx: Tx,
  name: string,
  parentId: string | null,
  at: number,
  caller: Caller = libraryCaller,
): Op<BoardRecord> {
  const found = yield* tx.board.get(name)
  if (name === mainBoard && parentId !== null) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The board "${mainBoard}" holds all tasks of the ledger. Choose another name for the board of the tasks below ${parentId}.`,
      { board: name },
    )
  }
  if (found !== undefined) {
    if (found.parentId === parentId) return found
    if (!(yield* mayAddTo(tx, found, caller))) {
      throw new ErrandError('KEY_CONFLICT', `The name "${name}" is taken. Choose another one.`, { key: name })
    }
    throw new ErrandError(
      'KEY_CONFLICT',
      `The board "${name}" is for ${found.parentId === null ? 'all tasks' : `the tasks below ${found.parentId}`}. Choose another name.`,
      { key: name, taskId: found.parentId },
    )
  }
  const board = { name, parentId, nextNumber: 1, seenSeq: 0, createdAt: at }
  yield* tx.board.save(board)
  return board
}

/**
 * Assigns a number to a task: the next one, or the given one.
 * @throws ErrandError KEY_CONFLICT for a number below the next one, which may have belonged to another task.
 */
export function* giveNumber(
  tx: Tx,
  board: BoardRecord,
  taskId: string,
  fields: BoardFields = {},
  number = board.nextNumber,
): Op<BoardRecord> {
  if (number < board.nextNumber) {
    throw new ErrandError(
      'KEY_CONFLICT',
      `Task ${number} cannot be created: the board "${board.name}" never assigns a number twice, and its next one is ${board.nextNumber}.`,
      { key: String(number), board: board.name, next: board.nextNumber },
    )
  }
  const next = { ...board, nextNumber: number + 1 }
  // First, because the entry refers to this row.
  yield* tx.board.save(next)
  yield* tx.board.insert({ board: board.name, number, taskId, fields })
  return next
}

/** Assigns no number up to `last` from now on. */
export async function skipNumbers(host: BoardHost, name: string, last: number): Promise<void> {
  const { at } = await host.stepContext()
  await host.step({
    name: 'skip numbers',
    *decide(tx): Op<void> {
      yield* numberRemaining(tx, name, at)
      const board = yield* loadBoard(tx, name, at, libraryCaller, 'toNumber')
      if (board.nextNumber <= last) yield* tx.board.save({ ...board, nextNumber: last + 1 })
    },
  })
}

/**
 * Numbers all tasks that have no number yet. Writes nothing when there are none. With a caller, who means to add to the board, see
 * `loadBoard`.
 */
export async function numberNewTasks(host: BoardHost, name: string, caller?: Caller): Promise<void> {
  const { at } = await host.stepContext()
  while (await host.read((tx) => hasUnnumbered(tx, name, at, caller))) {
    await host.step({ name: 'number tasks', decide: (tx) => numberSome(tx, name, at) })
  }
}

/** Reads a board after numbering all its tasks. */
export async function readBoard<R>(host: BoardHost, board: string, query: (tx: Reads) => Op<R>): Promise<R> {
  await numberNewTasks(host, board)
  return host.read(query)
}

/** Changes a board in one step, with all its tasks numbered. */
export async function changeBoard<R>(
  host: BoardHost,
  { board, caller }: BoardTarget,
  name: string,
  change: (tx: Tx, ctx: StepContext) => Op<R>,
): Promise<R> {
  await numberNewTasks(host, board)
  const ctx = requestedBy(await host.stepContext(), caller)
  return host.step({
    name,
    *decide(tx): Op<R> {
      yield* numberRemaining(tx, board, ctx.at)
      return yield* change(tx, ctx)
    },
  })
}

/** The same as a part of a step: numbers tasks that were created since, before any is shown. */
export function* numberRemaining(tx: Tx, name: string, at: number): Op<void> {
  while (yield* hasUnnumbered(tx, name, at)) yield* numberSome(tx, name, at)
}

function* hasUnnumbered(tx: Reads, name: string, at: number, caller?: Caller): Op<boolean> {
  const [board, last] = yield* all([loadBoard(tx, name, at, caller), tx.board.lastSeq()])
  return last > board.seenSeq
}

function* numberSome(tx: Tx, name: string, at: number): Op<void> {
  let board = yield* loadBoard(tx, name, at, libraryCaller, 'toNumber')
  const last = yield* tx.board.lastSeq()
  const { parentId } = board
  const found = yield* tx.board.unnumbered(name, board.seenSeq, numberingBatchSize)
  for (const { id } of found) {
    if (parentId === null || (yield* isBelow(tx, id, parentId))) board = yield* giveNumber(tx, board, id)
  }
  const all = found.length < numberingBatchSize
  yield* tx.board.save({ ...board, seenSeq: all ? last : (found.at(-1)?.seq ?? last) })
}

/** Follows the ancestors of the task, because the descendants of `root` may be the whole ledger. */
function* isBelow(tx: Reads, id: string, root: string): Op<boolean> {
  return (yield* tx.task.ancestors(id)).some((above) => above.id === root)
}
