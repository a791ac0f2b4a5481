// How the verbs of the board reach it: which board, which of its tasks, and in whose name.
import type { Engine } from '../../api.ts'
import { type BoardRef, mainBoard } from '../../entities/board.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from './arguments.ts'
import type { CommandIo } from './io.ts'
import { inStep } from './kept-folders.ts'
import { withLedger } from './open-ledger.ts'
import { findTask } from './task-ref.ts'

export const boardOptions = texts('board')
export const memberOptions = texts('as', 'fence')

type PlaceFlags = FlagsOf<typeof boardOptions>
type MemberFlags = FlagsOf<typeof memberOptions>

/** An open board. */
export interface BoardAccess {
  engine: Engine
  board: string
}

/** Who calls the abilities of the board from here; in the log of claims. */
export const fromHere = { caller: { surface: 'cli' } } as const

/**
 * Opens the ledger for something on its board. `create: true` makes a ledger that is not there; `folders: false` leaves the folders
 * that show the board alone.
 */
export async function withBoard<T>(
  io: CommandIo,
  flags: PlaceFlags,
  use: (place: BoardAccess) => Promise<T>,
  { folders = true, ...options }: { create?: boolean; folders?: boolean } = {},
): Promise<T> {
  return await withLedger(
    io,
    flags,
    (engine) => {
      const work = () => use({ engine, board: boardName(flags) })
      return folders ? inStep(io, engine, work) : work()
    },
    options,
  )
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
export function memberName(io: CommandIo, { as }: MemberFlags): string | undefined {
  if (as !== undefined && as.trim() === '') throw misuse('--as takes the name of an agent or a person, got "".')
  return [as, io.env['ERRAND_AGENT'], io.env['ERRAND_OWNER']].map((name) => name?.trim()).find(Boolean)
}

/** @throws ErrandError INVALID_INPUT when nobody is named. */
export function requireMember(io: CommandIo, flags: MemberFlags): string {
  const name = memberName(io, flags)
  if (name !== undefined) return name
  throw misuse(
    'Say who you are: --as NAME, or ERRAND_AGENT=NAME in the environment. Any name that is only yours will do.',
  )
}

/** Who writes to a task, and by which claim. */
export function writerOf(io: CommandIo, flags: MemberFlags): { as: string | undefined; fence: number | undefined } {
  const as = memberName(io, flags)
  const fence = flags.fence === undefined ? undefined : wholeNumber('fence', flags.fence, 1)
  if (as === undefined && fence !== undefined)
    throw misuse('--fence is quoted together with its owner: --as NAME, or ERRAND_AGENT=NAME in the environment.')
  return { as, fence }
}
