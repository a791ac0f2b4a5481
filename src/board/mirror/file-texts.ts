// The texts of the mirrored files, by version. A text is stored in the ledger before it is written to the folder, so that after a crash
// the ledger still recognizes it as its own.
import { nextTurn } from '../../core/turns.ts'
import type { ImportedFile } from '../../entities/board.ts'
import type { Op, Reads, Step, Tx } from '../../ledger/ledger.ts'
import type { BoardTarget } from '../board-host.ts'
import { mapBoard, type Numbered, viewTask } from '../board-view.ts'
import { holdsLease, type MirrorLease } from './election.ts'
import type { FileState } from './folder-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { exportedValue, type FileValue, fileText, mirroredValue } from './task-file.ts'

/** Versions of a file that are kept; an edit of an older one cannot be compared. */
export const keptTexts = 32
/** Tasks per transaction. */
const batchSize = 100

/** What a file should contain. */
export interface WantedFile {
  number: number
  /** Null: the task is no longer on the board, and its file is to be removed. */
  text: string | null
  /** Numbers of the tasks that the text refers to. */
  mentions: number[]
  version: number
  /** The text is not stored yet. */
  fresh: boolean
}

/** Returns the texts of files and stores new ones; undefined when the lease was lost. Writes nothing when nothing is new. */
export async function ensureTexts(
  host: MirrorHost,
  target: BoardTarget,
  lease: MirrorLease,
  numbers: readonly number[],
): Promise<WantedFile[] | undefined> {
  const wanted: WantedFile[] = []
  for await (const drafted of drafts(host, target, lease.dir, numbers)) {
    const fresh = drafted.filter((each) => each.fresh).map(({ number }) => number)
    const store: Step<WantedFile[] | undefined> = {
      name: 'store file texts',
      decide: (tx) => saveTexts(tx, target, lease, fresh),
    }
    const kept = fresh.length === 0 ? [] : await host.step(store)
    if (kept === undefined) return undefined
    for (const each of [...drafted.filter((one) => !one.fresh), ...kept]) wanted.push(each)
  }
  return wanted
}

/** What the files should contain, some at a time. */
async function* drafts(
  host: MirrorHost,
  target: BoardTarget,
  dir: string,
  numbers: readonly number[],
): AsyncGenerator<WantedFile[]> {
  for (let from = 0; from < numbers.length; from += batchSize) {
    await nextTurn()
    yield await host.read((tx) => draftAll(tx, target, dir, numbers.slice(from, from + batchSize)))
  }
}

/** All numbers of the board, and those with a stored text whose task is no longer on it. */
export function allNumbers(host: MirrorHost, { board }: BoardTarget, dir: string): Promise<number[]> {
  return host.read(function* (tx) {
    const shown = yield* mapBoard(tx, board, ({ entry }) => entry.number)
    const numbers = new Set([...(yield* tx.mirror.numbers(dir)), ...shown])
    return [...numbers].sort((a, b) => a - b)
  })
}

/** Whether every file has its current text. */
export async function allWritten(
  host: MirrorHost,
  target: BoardTarget,
  dir: string,
  read: (number: number) => FileState,
): Promise<boolean> {
  const numbers = await allNumbers(host, target, dir)
  for await (const drafted of drafts(host, target, dir, numbers))
    if (drafted.some(({ number, text, fresh }) => fresh || !hasText(read(number), text))) return false
  return true
}

function hasText(state: FileState, text: string | null): boolean {
  return state.kind === 'text' ? state.text === text : state.kind === 'none' && text === null
}

function* saveTexts(
  tx: Tx,
  target: BoardTarget,
  lease: MirrorLease,
  numbers: readonly number[],
): Op<WantedFile[] | undefined> {
  if (!(yield* holdsLease(tx, lease))) return undefined
  const drafted = yield* draftAll(tx, target, lease.dir, numbers)
  for (const { number, text, version, fresh } of drafted) {
    if (!fresh || text === null) continue
    yield* tx.mirror.keep({ dir: lease.dir, number, version, text })
    yield* tx.mirror.forget(lease.dir, number, version - keptTexts + 1)
  }
  return drafted
}

function* draftAll(tx: Reads, target: BoardTarget, dir: string, numbers: readonly number[]): Op<WantedFile[]> {
  const drafted: WantedFile[] = []
  for (const number of numbers) drafted.push(yield* draft(tx, target, dir, number))
  return drafted
}

function* draft(tx: Reads, { board }: BoardTarget, dir: string, number: number): Op<WantedFile> {
  const found = yield* onBoard(tx, board, number)
  if (found === undefined) return { number, text: null, mentions: [], version: 0, fresh: false }
  const { task, entry } = found
  const view = yield* viewTask(tx, board, task, entry)
  const mentions = [...view.blockedBy, ...view.blocks].filter((ref) => typeof ref === 'number')
  const [latest] = yield* tx.mirror.texts(dir, number, 1)
  const textAs = (version: number) =>
    fileText(mirroredValue(view, entry.fields.file, version), entry.fields.file?.newline ?? false)
  const version = latest?.version ?? 0
  // Version 0 is an imported file, which the mirror has not written yet.
  if (latest !== undefined && version > 0 && latest.text === textAs(version))
    return { number, text: latest.text, mentions, version, fresh: false }
  return { number, text: textAs(version + 1), mentions, version: version + 1, fresh: true }
}

/** The task with a number, unless it was deleted. */
export function* onBoard(tx: Reads, board: string, number: number): Op<Numbered | undefined> {
  const entry = yield* tx.board.entry(board, number)
  const task = entry === undefined ? undefined : yield* tx.task.get(entry.taskId)
  return entry === undefined || task === undefined || task.deletedAt !== null ? undefined : { task, entry }
}

/** A task as an export shows it, with the stored differences of its imported file. */
export interface Exported {
  value: FileValue
  taskId: string
  file: ImportedFile | undefined
}

/** Undefined for a number without a task on the board. */
export function* exportedTask(tx: Reads, board: string, number: number): Op<Exported | undefined> {
  const found = yield* onBoard(tx, board, number)
  if (found === undefined) return undefined
  const { file } = found.entry.fields
  const view = yield* viewTask(tx, board, found.task, found.entry)
  return { value: exportedValue(view, file), taskId: view.taskId, file }
}

/** The numbers of the files that a change of these tasks can affect. */
export function affectedFiles(
  host: MirrorHost,
  { board }: BoardTarget,
  ids: ReadonlySet<string>,
): Promise<Set<number>> {
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
