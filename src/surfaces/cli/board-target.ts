// How the verbs of the board reach it: which board, which of its tasks, in whose name, and a look at those that were chosen.

import type { Engine } from '../../engine-api.ts'
import { type BoardRef, type BoardStatus, type BoardTask, mainBoard } from '../../entities/board.ts'
import { type FlagsOf, misuse, texts } from '../../terminal/arguments.ts'
import { cliCaller } from '../../terminal/caller.ts'
import type { CommandIo } from '../../terminal/io.ts'
import { inStep } from './board-folders.ts'
import { type OpenFlags, withLedger } from './open-ledger.ts'
import { fenceOf, members, type OwnerFlags, requireWriterName, writerName } from './owner-flags.ts'
import { findTask } from './task-ref.ts'

export const boardOptions = texts('board')

type PlaceFlags = FlagsOf<typeof boardOptions>

/** An open board. */
export interface BoardAccess {
  engine: Engine
  board: string
}

/** Opens the ledger for something on its board. `folders: false` leaves the folders that show the board alone. */
export async function withBoard<T>(
  io: CommandIo,
  { folders = true, ...flags }: PlaceFlags & OpenFlags & { folders?: boolean },
  use: (place: BoardAccess) => Promise<T>,
): Promise<T> {
  return await withLedger(io, flags, (engine) => {
    const work = () => use({ engine, board: boardName(flags) })
    return folders ? inStep(io, engine, work) : work()
  })
}

/** @throws ErrandError INVALID_INPUT for an empty name. */
export function boardName({ board }: PlaceFlags): string {
  if (board === undefined) return mainBoard
  if (board.trim() === '') throw misuse('--board takes the name of a board, got "".')
  return board.trim()
}

/**
 * What the abilities take for a task that somebody named: its number on the board (`3`, `#3`), its id, or any unique beginning of it.
 * @throws ErrandError NOT_FOUND, INVALID_INPUT { candidates } for a beginning that is nobody's, or not unique.
 */
export async function boardRef(engine: Engine, ref: string): Promise<BoardRef> {
  const number = /^#?([1-9]\d{0,14})$/.exec(ref.trim())?.[1]
  return number === undefined ? (await findTask(engine, ref.trim())).id : Number(number)
}

/** Several, in an option that may be given several times and may hold several: `--after 1,2 --after 5`. */
export async function boardRefs(engine: Engine, given: readonly string[] = []): Promise<BoardRef[]> {
  const refs = given
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '')
  return await Promise.all(refs.map((ref) => boardRef(engine, ref)))
}

/** Whose name is written: --as, else ERRAND_AGENT, else ERRAND_OWNER. @throws ErrandError INVALID_INPUT for an empty --as. */
export function memberName(io: CommandIo, flags: OwnerFlags): string | undefined {
  return writerName(io, flags, members)
}

/** @throws ErrandError INVALID_INPUT when nobody is named. */
export function requireMember(io: CommandIo, flags: OwnerFlags): string {
  return requireWriterName(io, flags, members)
}

/** Who writes to a task, and by which claim. */
export function writerOf(io: CommandIo, flags: OwnerFlags): { as: string | undefined; fence: number | undefined } {
  const as = memberName(io, flags)
  return { as, fence: fenceOf(flags, as, members) }
}

/** As many as one look at the board gives. */
const maxListed = 10_000
const maxReady = 1_000

export interface BoardChoice {
  /** Only what may be claimed now. */
  ready: boolean
  statuses: readonly BoardStatus[] | undefined
  owner: string | undefined
}

/** By number; what may be claimed by urgency. `total` counts those that are not given, too. */
export async function chosenTasks(
  { engine, board }: BoardAccess,
  { ready, statuses, owner }: BoardChoice,
): Promise<{ tasks: BoardTask[]; total: number }> {
  if (ready) return await engine.bus.call('board:ready', { limit: maxReady, board }, cliCaller)
  const status = statuses === undefined ? undefined : [...statuses]
  return await engine.bus.call('board:list', { status, owner, limit: maxListed, board }, cliCaller)
}

/** The same asked of one task that has changed. */
export function isChosen(task: BoardTask, { ready, statuses, owner }: BoardChoice): boolean {
  return (
    (!ready || task.ready) &&
    (statuses === undefined || statuses.includes(task.status)) &&
    (owner === undefined || task.owner === owner)
  )
}
