// Synchronizes a board with the folders that mirror it, and reports what happened to their files. Before a command changes the
// board, edits of the files are applied to it; afterwards the changes of the board are written to the files.
import { resolve } from 'node:path'
import type { BoardMirror } from '../../board/mirror/mirror-board.ts'
import type { MirrorReport, RefusedFile } from '../../board/mirror/mirror-report.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, type JsonFlag, note, print, printJson } from '../terminal/io.ts'
import { cleanLine } from '../terminal/terminal-text.ts'

/** Synchronizes the folders before `work`, and again after it if the ledger has changed. */
export async function syncedWithFolders<T>(io: CommandIo, engine: Engine, work: () => Promise<T>): Promise<T> {
  const { knownFolders, lastEvent } = await import('../../board/mirror/known-folders.ts')
  const folders = await knownFolders(engine)
  if (folders.length === 0) return work()
  const sync = async (): Promise<void> => {
    for (const folder of folders) await syncOnce(io, engine, folder)
  }
  await sync()
  const before = await lastEvent(engine)
  try {
    return await work()
  } finally {
    if ((await lastEvent(engine)) > before) await sync()
  }
}

async function syncOnce(io: CommandIo, engine: Engine, folder: { board: string; dir: string }): Promise<void> {
  const { mirrorBoard } = await import('../../index.ts')
  try {
    await using mirror = await mirrorBoard(engine, { ...folder, watch: false })
    noteRejected(io, await mirror.sync())
  } catch (error) {
    // The board is correct without its folder.
    note(io, `${folder.dir} was not synchronized with the board: ${messageOf(error)}`)
  }
}

/** Keeps the known folders synchronized until the returned mirrors are closed. */
export async function mirrorFolders(io: CommandIo, engine: Engine): Promise<BoardMirror[]> {
  const { knownFolders } = await import('../../board/mirror/known-folders.ts')
  const { mirrorBoard } = await import('../../index.ts')
  const mirrors: BoardMirror[] = []
  for (const folder of await knownFolders(engine)) {
    try {
      mirrors.push(
        await mirrorBoard(engine, { ...folder, onReport: (report: MirrorReport) => noteRejected(io, report) }),
      )
    } catch (error) {
      note(io, `${folder.dir} is not synchronized with the board: ${messageOf(error)}`)
    }
  }
  return mirrors
}

const defaultFolder = '.tasks'

/** Files that one line of a report names. */
const maxNamed = 20

export function folderOf(io: CommandIo, given: string | undefined): string {
  return resolve(io.cwd, given ?? defaultFolder)
}

/** Prints the report. Returns the exit code: failed when an edit of a file was refused. */
export function writeReport(io: CommandIo, report: MirrorReport, { json }: JsonFlag): number {
  if (json) printJson(io, report)
  else describe(io, report)
  return report.refused.length > 0 ? exitCodes.failed : exitCodes.done
}

function describe(io: CommandIo, report: MirrorReport): void {
  if (report.standingBy) note(io, 'Another process synchronizes this folder; nothing was done here.')
  const { imported, written, removed } = report
  for (const [what, files] of Object.entries({ imported, written, removed })) {
    if (files.length > 0) print(io, `${what} ${files.length}: ${named(files)}`)
  }
  noteRejected(io, report)
}

/** Reports on stderr what the files contain and the board does not. */
function noteRejected(io: CommandIo, report: MirrorReport): void {
  for (const refused of report.refused) note(io, fileText('refused', refused))
  for (const skipped of report.skipped) note(io, fileText('skipped', skipped))
  for (const { file, key, why } of report.unheld) note(io, cleanLine(`kept for export ${file} (${key}): ${why}`))
}

function named(files: readonly string[]): string {
  const more = files.length > maxNamed ? `, and ${files.length - maxNamed} more` : ''
  return cleanLine(files.slice(0, maxNamed).join(', ')) + more
}

function fileText(what: string, { file, why, copy }: RefusedFile): string {
  return cleanLine(`${what} ${file}: ${why}${copy === undefined ? '' : ` (kept as ${copy})`}`)
}
