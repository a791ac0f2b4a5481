// Boards as folders of task files, for programs. The modules that read and write the files are loaded by the first call.
import type { FolderOptions } from './import-board.ts'
import type { BoardMirror, MirrorOptions } from './mirror-board.ts'
import type { MirrorReport } from './mirror-report.ts'

/**
 * Mirrors a board as files `task_N.json`. The ledger is the truth: every change of the board is written to the files, and what is
 * changed in the files goes to the board through the same steps as any command, or is refused, reported, and kept beside them.
 * Of several mirrors of one folder one writes, in whichever process; the others stand by.
 *
 * @example
 * await using mirror = await mirrorBoard(engine, { dir: '.tasks', onReport: (report) => console.log(report.refused) })
 *
 * @throws ErrandError INVALID_INPUT for options, a path that is no folder, an engine that is none; NOT_FOUND for an unknown board;
 *   KEY_CONFLICT for a folder that belongs to another ledger or board.
 */
export async function mirrorBoard(engine: object, options: MirrorOptions): Promise<BoardMirror> {
  const mirror = await import('./mirror-board.ts')
  return await mirror.mirrorBoard(engine, options)
}

/**
 * Puts the tasks of a folder on the board, each under its own number, in one transaction; the files stay as they are. A file that
 * cannot be read, or whose number is taken, is reported and left out; a value that the board cannot hold is reported, and comes
 * back with `exportBoard`.
 *
 * @throws ErrandError INVALID_INPUT for options, a path that is no folder, an engine that is none; NOT_FOUND for an unknown board.
 */
export async function importBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const folder = await import('./import-board.ts')
  return await folder.importBoard(engine, options)
}

/**
 * Writes every task of the board into a folder, which is made where there is none. Files that say the same stay untouched; one that
 * cannot be read, or is another ledger's, is reported and left alone.
 *
 * @throws ErrandError INVALID_INPUT for options, a path that is no folder, an engine that is none; NOT_FOUND for an unknown board.
 */
export async function exportBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const folder = await import('./export-board.ts')
  return await folder.exportBoard(engine, options)
}
