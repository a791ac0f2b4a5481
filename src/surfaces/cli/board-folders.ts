// The folders that show a board: kept in step with it while somebody works on the board from here (what was edited in their files is
// done on the board first, and what is done on the board is written to them after), and what became of their files, in words.
import { resolve } from 'node:path'
import type { BoardMirror } from '../../board/mirror/mirror-board.ts'
import type { MirrorReport, RefusedFile } from '../../board/mirror/mirror-report.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine } from '../../engine-api.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, type JsonFlag, note, print, printJson } from '../../terminal/io.ts'
import { cleanLine } from '../../terminal/terminal-text.ts'

/** Does something with the board between two looks at its folders; the second only where something has been done. */
export async function inStep<T>(io: CommandIo, engine: Engine, work: () => Promise<T>): Promise<T> {
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
    tellUntaken(io, await mirror.sync())
  } catch (error) {
    // The board is right all the same.
    note(io, `${folder.dir} is not in step: ${messageOf(error)}`)
  }
}

/** Keeps them in step until the mirrors that it resolves to are closed. */
export async function keepFolders(io: CommandIo, engine: Engine): Promise<BoardMirror[]> {
  const { knownFolders } = await import('../../board/mirror/known-folders.ts')
  const { mirrorBoard } = await import('../../index.ts')
  const mirrors: BoardMirror[] = []
  for (const folder of await knownFolders(engine)) {
    try {
      mirrors.push(
        await mirrorBoard(engine, { ...folder, onReport: (report: MirrorReport) => tellUntaken(io, report) }),
      )
    } catch (error) {
      note(io, `${folder.dir} is not kept in step: ${messageOf(error)}`)
    }
  }
  return mirrors
}

const defaultFolder = '.tasks'

/** Names of files that are listed one by one. */
const maxNamed = 20

export function folderOf(io: CommandIo, given: string | undefined): string {
  return resolve(io.cwd, given ?? defaultFolder)
}

/** Gives the exit code: something that a file says is not on the board, or all is. */
export function tellReport(io: CommandIo, report: MirrorReport, { json }: JsonFlag): number {
  if (json) printJson(io, report)
  else describe(io, report)
  return report.refused.length > 0 ? exitCodes.failed : exitCodes.done
}

function describe(io: CommandIo, report: MirrorReport): void {
  if (report.standingBy) note(io, 'Another process keeps this folder in step; nothing was done here.')
  const { imported, written, removed } = report
  for (const [what, files] of Object.entries({ imported, written, removed })) {
    if (files.length > 0) print(io, `${what} ${files.length}: ${named(files)}`)
  }
  tellUntaken(io, report)
}

/** What of the files is not on the board, on standard error. */
export function tellUntaken(io: CommandIo, report: MirrorReport): void {
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
