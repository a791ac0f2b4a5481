// Numbers: every task of a board gets the next one, by age, and keeps it for ever. They are given when somebody looks, so that a
// ledger whose board nobody uses pays nothing for it; given in a transaction, so that no two tasks ever get the same.
import { type Caller, libraryCaller, mayAffect } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { type BoardFields, type BoardRecord, mainBoard } from '../entities/board.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { requestedBy, type StepContext } from '../steps/step-context.ts'
import type { BoardHost, BoardTarget } from './board-host.ts'

/** Tasks that get their numbers in one transaction. */
const numberedAtOnce = 500

/**
 * The board, or a refusal. The main board is there before anybody has made it. With a caller, for adding to it: the board of a task that is
 * not for this caller to affect is as good as unknown.
 */
export function* loadBoard(tx: Reads, name: string, at: number, caller: Caller = libraryCaller): Op<BoardRecord> {
  const found = yield* tx.board.get(name)
  if (found !== undefined && (yield* mayAddTo(tx, found, caller))) return found
  if (name === mainBoard) return { name, parentId: null, nextNumber: 1, seenSeq: 0, createdAt: at }
  const known = new Set([mainBoard])
  for (const board of yield* tx.board.list()) if (yield* mayAddTo(tx, board, caller)) known.add(board.name)
  throw new ErrandError('NOT_FOUND', `There is no board "${name}". Boards: ${[...known].join(', ')}.`, { board: name })
}

function* mayAddTo(tx: Reads, { parentId }: BoardRecord, caller: Caller): Op<boolean> {
  return parentId === null || mayAffect(caller, (yield* tx.task.get(parentId))?.policy.principal)
}

/** Makes a board for what is below a task, or finds it. @throws ErrandError KEY_CONFLICT when it stands for another task. */
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
      `The board "${mainBoard}" holds all tasks of the ledger: give one for the tasks below ${parentId} another name.`,
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
 * Gives a task a number: the next one, or one that is asked for.
 * @throws ErrandError KEY_CONFLICT for a number below the next one: it may have been another task's.
 */
export function* giveNumber(
  tx: Tx,
  board: BoardRecord,
  taskId: string,
  fields: BoardFields = {},
  wanted: number = board.nextNumber,
): Op<BoardRecord> {
  if (wanted < board.nextNumber) {
    throw new ErrandError(
      'KEY_CONFLICT',
      `Task ${wanted} cannot be made: numbers of the board "${board.name}" are never given twice, and the next one is ${board.nextNumber}.`,
      { key: String(wanted), board: board.name, next: board.nextNumber },
    )
  }
  const next = { ...board, nextNumber: wanted + 1 }
  // First: the row that numbers belong to.
  yield* tx.board.save(next)
  yield* tx.board.insert({ board: board.name, number: wanted, taskId, fields })
  return next
}

/**
 * Gives numbers to tasks that have none yet; resolves once all have one. Nothing is written where nothing is new. With a caller, for adding
 * to the board.
 */
export async function numberNewcomers(host: BoardHost, name: string, caller?: Caller): Promise<void> {
  const { at } = await host.stepContext()
  while (await host.read((tx) => hasNewcomers(tx, name, at, caller))) {
    await host.step({ name: 'number tasks', decide: (tx) => numberSome(tx, name, at) })
  }
}

/** Reads a board of which every task has a number. */
export async function readBoard<R>(host: BoardHost, board: string, query: (tx: Reads) => Op<R>): Promise<R> {
  await numberNewcomers(host, board)
  return host.read(query)
}

/** Changes a board of which every task has a number, in one step. */
export async function changeBoard<R>(
  host: BoardHost,
  { board, caller }: BoardTarget,
  name: string,
  change: (tx: Tx, ctx: StepContext) => Op<R>,
): Promise<R> {
  await numberNewcomers(host, board)
  const ctx = requestedBy(await host.stepContext(), caller)
  return host.step({
    name,
    *decide(tx): Op<R> {
      yield* numberRest(tx, board, ctx.at)
      return yield* change(tx, ctx)
    },
  })
}

/** The same as a part of a step: who was made since others were numbered gets one too, before anybody is shown it. */
export function* numberRest(tx: Tx, name: string, at: number): Op<void> {
  while (yield* hasNewcomers(tx, name, at)) yield* numberSome(tx, name, at)
}

function* hasNewcomers(tx: Reads, name: string, at: number, caller?: Caller): Op<boolean> {
  const board = yield* loadBoard(tx, name, at, caller)
  return (yield* tx.board.lastSeq()) > board.seenSeq
}

function* numberSome(tx: Tx, name: string, at: number): Op<void> {
  let board = yield* loadBoard(tx, name, at)
  const last = yield* tx.board.lastSeq()
  const { parentId } = board
  const found = yield* tx.board.unnumbered(name, board.seenSeq, numberedAtOnce)
  for (const { id } of found) {
    if (parentId === null || (yield* isBelow(tx, id, parentId))) board = yield* giveNumber(tx, board, id)
  }
  const all = found.length < numberedAtOnce
  yield* tx.board.save({ ...board, seenSeq: all ? last : (found.at(-1)?.seq ?? last) })
}

/** Seen from below: what else is below the same task may be the whole ledger. */
function* isBelow(tx: Reads, id: string, root: string): Op<boolean> {
  return (yield* tx.task.ancestors(id)).some((above) => above.id === root)
}
