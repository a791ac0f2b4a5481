// How the verbs of the board find it: which board, which of its tasks, in whose name, and the tasks that a choice selects.

import type { Engine } from '../../engine/engine-api.ts'
import { type BoardRef, type BoardStatus, type BoardTask, mainBoard } from '../../entities/board.ts'
import { type FlagsOf, misuse, texts } from '../terminal/arguments.ts'
import { cliCaller } from '../terminal/caller.ts'
import type { CommandIo } from '../terminal/io.ts'
import { syncedWithFolders } from './board-folders.ts'
import { type OpenFlags, withLedger } from './open-ledger.ts'
import { fenceOf, members, type OwnerFlags, requireWriterName, writerName } from './owner-flags.ts'
import { findTask } from './task-ref.ts'

export const boardOptions = texts('board')

type BoardFlags = FlagsOf<typeof boardOptions>

/** An open board. */
export interface BoardAccess {
  engine: Engine
  board: string
}

/** Opens the ledger and passes its board to `use`. `folders: false` does not synchronize the folders that mirror the board. */
export async function withBoard<T>(
  io: CommandIo,
  { folders = true, ...flags }: BoardFlags & OpenFlags & { folders?: boolean },
  use: (access: BoardAccess) => Promise<T>,
): Promise<T> {
  return await withLedger(io, flags, (engine) => {
    const work = () => use({ engine, board: boardName(flags) })
    return folders ? syncedWithFolders(io, engine, work) : work()
  })
}

/** @throws ErrandError INVALID_INPUT for an empty name. */
export function boardName({ board }: BoardFlags): string {
  if (board === undefined) return mainBoard
  if (board.trim() === '') throw misuse('--board takes the name of a board, got "".')
  return board.trim()
}

/**
 * Converts what the user typed for a task into the input of an ability: its number on the board (`3`, `#3`), its id, or any unique
 * prefix of the id.
 * @throws ErrandError NOT_FOUND, or INVALID_INPUT { candidates } when several ids begin like that.
 */
export async function boardRef(engine: Engine, ref: string): Promise<BoardRef> {
  const number = /^#?([1-9]\d{0,14})$/.exec(ref.trim())?.[1]
  return number === undefined ? (await findTask(engine, ref.trim())).id : Number(number)
}

/** Reads an option that may be given several times and may hold several tasks: `--after 1,2 --after 5`. */
export async function boardRefs(engine: Engine, given: readonly string[] = []): Promise<BoardRef[]> {
  const refs = given
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '')
  return await Promise.all(refs.map((ref) => boardRef(engine, ref)))
}

/** The name of the writer: --as, else ERRAND_AGENT, else ERRAND_OWNER. @throws ErrandError INVALID_INPUT for an empty --as. */
export function memberName(io: CommandIo, flags: OwnerFlags): string | undefined {
  return writerName(io, flags, members)
}

/** @throws ErrandError INVALID_INPUT when there is no name. */
export function requireMember(io: CommandIo, flags: OwnerFlags): string {
  return requireWriterName(io, flags, members)
}

/** The writer of a task, and the number of its claim. */
export function writerOf(io: CommandIo, flags: OwnerFlags): { as: string | undefined; fence: number | undefined } {
  const as = memberName(io, flags)
  return { as, fence: fenceOf(flags, as, members) }
}

/** Maxima of `board:list` and `board:ready`. */
const maxListed = 10_000
const maxReady = 1_000

export interface BoardChoice {
  /** Only what may be claimed now. */
  ready: boolean
  statuses: readonly BoardStatus[] | undefined
  owner: string | undefined
}

/** In order of their numbers; claimable tasks by urgency. `total` includes tasks beyond the limit. */
export async function chosenTasks(
  { engine, board }: BoardAccess,
  { ready, statuses, owner }: BoardChoice,
): Promise<{ tasks: BoardTask[]; total: number }> {
  if (ready) return await engine.bus.call('board:ready', { limit: maxReady, board }, cliCaller)
  const status = statuses === undefined ? undefined : [...statuses]
  return await engine.bus.call('board:list', { status, owner, limit: maxListed, board }, cliCaller)
}

/** Whether the choice selects this task. */
export function isChosen(task: BoardTask, { ready, statuses, owner }: BoardChoice): boolean {
  return (
    (!ready || task.ready) &&
    (statuses === undefined || statuses.includes(task.status)) &&
    (owner === undefined || task.owner === owner)
  )
}
