// What became of a folder of task files, for people and scripts: what was done on standard output, what was not on standard error.
import { resolve } from 'node:path'
import type { MirrorReport, RefusedFile } from '../../board/mirror/mirror-report.ts'
import { exitCodes } from './exit-code.ts'
import { type CommandIo, type JsonFlag, note, print, printJson } from './io.ts'
import { cleanLine } from './terminal-text.ts'

export const usualFolder = '.tasks'

/** Names of files that are listed one by one. */
const mostNamed = 20

export function folderOf(io: CommandIo, given: string | undefined): string {
  return resolve(io.cwd, given ?? usualFolder)
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
  for (const refused of report.refused) note(io, fileWords('refused', refused))
  for (const skipped of report.skipped) note(io, fileWords('skipped', skipped))
  for (const { file, key, why } of report.unheld) note(io, cleanLine(`kept for export ${file} (${key}): ${why}`))
}

function named(files: readonly string[]): string {
  const more = files.length > mostNamed ? `, and ${files.length - mostNamed} more` : ''
  return cleanLine(files.slice(0, mostNamed).join(', ')) + more
}

function fileWords(what: string, { file, why, copy }: RefusedFile): string {
  return cleanLine(`${what} ${file}: ${why}${copy === undefined ? '' : ` (kept as ${copy})`}`)
}
