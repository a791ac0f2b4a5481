// The texts that stand in the files: what each task's file is to say, under which version. A text is in the ledger before it is in
// the folder, so whatever a file says after a crash, the ledger knows whether it came from here.
import type { ImportedFile } from '../../entities/board.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { BoardTarget } from '../board-host.ts'
import { everyOnBoard, type Numbered, viewTask } from '../board-view.ts'
import { holdsLease, type MirrorLease } from './election.ts'
import { exportedValue, mirroredValue } from './file-image.ts'
import type { MirrorHost } from './mirror-host.ts'
import { type FileValue, fileText } from './task-file.ts'

/** Texts of a file that are kept: so many versions back an edit may have begun. */
export const keptTexts = 32
/** Tasks whose texts are made in one transaction. */
const atOnce = 100

/** What a file is to say. */
export interface WantedFile {
  number: number
  /** Null: the task is not on the board any more, and neither is its file. */
  text: string | null
  /** Numbers of the tasks that it speaks of. */
  mentions: number[]
}

interface Drafted extends WantedFile {
  version: number
  /** The text is not in the ledger yet. */
  fresh: boolean
}

/** Undefined when the seat was lost. Nothing is written where nothing is new. */
export async function textsOf(
  host: MirrorHost,
  place: BoardTarget,
  seat: MirrorLease,
  numbers: readonly number[],
): Promise<WantedFile[] | undefined> {
  const wanted: WantedFile[] = []
  for (let from = 0; from < numbers.length; from += atOnce) {
    const some = numbers.slice(from, from + atOnce)
    const drafted = await host.read((tx) => draftAll(tx, place, seat.dir, some))
    const fresh = drafted.filter((each) => each.fresh).map(({ number }) => number)
    const kept =
      fresh.length === 0
        ? []
        : await host.step({ name: 'keep texts of files', decide: (tx) => keepAll(tx, place, seat, fresh) })
    if (kept === undefined) return undefined
    wanted.push(...drafted.filter((each) => !each.fresh), ...kept)
  }
  return wanted
}

/** All numbers of the board, and those that have a text and are on it no more. */
export function allNumbers(host: MirrorHost, { board }: BoardTarget, dir: string): Promise<number[]> {
  return host.read(function* (tx) {
    const shown = yield* everyOnBoard(tx, board, ({ entry }) => entry.number)
    const numbers = new Set([...(yield* tx.mirror.numbers(dir)), ...shown])
    return [...numbers].sort((a, b) => a - b)
  })
}

/** Does every file say what it is to say? `says`: what stands in a file now; null where there is none. */
export async function areWritten(
  host: MirrorHost,
  place: BoardTarget,
  dir: string,
  says: (number: number) => string | null | undefined,
): Promise<boolean> {
  const numbers = await allNumbers(host, place, dir)
  for (let from = 0; from < numbers.length; from += atOnce) {
    const some = numbers.slice(from, from + atOnce)
    const drafted = await host.read((tx) => draftAll(tx, place, dir, some))
    if (drafted.some(({ number, text, fresh }) => fresh || says(number) !== text)) return false
  }
  return true
}

function* keepAll(
  tx: Tx,
  place: BoardTarget,
  seat: MirrorLease,
  numbers: readonly number[],
): Op<WantedFile[] | undefined> {
  if (!(yield* holdsLease(tx, seat))) return undefined
  const drafted = yield* draftAll(tx, place, seat.dir, numbers)
  for (const { number, text, version, fresh } of drafted) {
    if (!fresh || text === null) continue
    yield* tx.mirror.keep({ dir: seat.dir, number, version, text })
    yield* tx.mirror.forget(seat.dir, number, version - keptTexts + 1)
  }
  return drafted
}

function* draftAll(tx: Reads, place: BoardTarget, dir: string, numbers: readonly number[]): Op<Drafted[]> {
  const drafted: Drafted[] = []
  for (const number of numbers) drafted.push(yield* draft(tx, place, dir, number))
  return drafted
}

function* draft(tx: Reads, { board }: BoardTarget, dir: string, number: number): Op<Drafted> {
  const found = yield* onBoard(tx, board, number)
  if (found === undefined) return { number, text: null, mentions: [], version: 0, fresh: false }
  const { task, entry } = found
  const view = yield* viewTask(tx, board, task, entry)
  const mentions = [...view.blockedBy, ...view.blocks].filter((ref) => typeof ref === 'number')
  const [latest] = yield* tx.mirror.texts(dir, number, 1)
  const textAs = (version: number) =>
    fileText(mirroredValue(view, entry.fields.file, version), entry.fields.file?.newline ?? false)
  const version = latest?.version ?? 0
  // Version 0 is an imported file: the mirror itself has written nothing yet.
  if (latest !== undefined && version > 0 && latest.text === textAs(version))
    return { number, text: latest.text, mentions, version, fresh: false }
  return { number, text: textAs(version + 1), mentions, version: version + 1, fresh: true }
}

/** The task with a number, while it is on the board. */
export function* onBoard(tx: Reads, board: string, number: number): Op<Numbered | undefined> {
  const entry = yield* tx.board.entry(board, number)
  const task = entry === undefined ? undefined : yield* tx.task.get(entry.taskId)
  return entry === undefined || task === undefined || task.deletedAt !== null ? undefined : { task, entry }
}

/** A task of the board as export shows it, with what is remembered of its file. */
export interface Exported {
  value: FileValue
  taskId: string
  file: ImportedFile | undefined
}

/** Undefined for a number of which no task is on the board. */
export function* exportedTask(tx: Reads, board: string, number: number): Op<Exported | undefined> {
  const found = yield* onBoard(tx, board, number)
  if (found === undefined) return undefined
  const { file } = found.entry.fields
  const view = yield* viewTask(tx, board, found.task, found.entry)
  return { value: exportedValue(view, file), taskId: view.taskId, file }
}

/** Numbers whose files may say something else since something happened to these tasks. */
export function concernedBy(host: MirrorHost, { board }: BoardTarget, ids: ReadonlySet<string>): Promise<Set<number>> {
  return host.read(function* (tx) {
    const numbers = new Set<number>()
    for (const id of ids) {
      const entry = yield* tx.board.entryOf(board, id)
      if (entry === undefined) continue
      numbers.add(entry.number)
      for (const { number } of [
        ...(yield* tx.board.blockersOf(board, id)),
        ...(yield* tx.board.dependentsOf(board, id)),
      ])
        if (number !== null) numbers.add(number)
    }
    return numbers
  })
}
