// Boards as folders of task files, for programs. The modules that read and write the files are loaded by the first call.
import type { FolderOptions } from './import-export.ts'
import type { BoardMirror, MirrorOptions } from './mirror-board.ts'
import type { MirrorReport } from './mirror-report.ts'

/**
 * Mirrors a board as files `task_N.json`. The ledger is the source of truth: changes of the board are written to the files, and
 * changes of the files go through the same steps as any command, or are refused, reported, and kept as copies. Of several mirrors of
 * one folder, in any process, one writes; the others stand by.
 *
 * @example
 * await using mirror = await mirrorBoard(engine, { dir: '.tasks', onReport: (report) => console.log(report.refused) })
 *
 * @throws ErrandError INVALID_INPUT for invalid options, a path that is not a folder, a value that is not an engine; NOT_FOUND for an unknown board;
 *   KEY_CONFLICT for a folder that belongs to another ledger or board.
 */
export async function mirrorBoard(engine: object, options: MirrorOptions): Promise<BoardMirror> {
  const functions = await import('./folder-functions.ts')
  return await functions.mirrorBoard(engine, options)
}

/**
 * Creates the tasks of a folder on the board, each under its own number, in one transaction; the files stay as they are. A file that
 * cannot be read, or whose number is taken, is reported and left out. A value that the board cannot store is reported and restored
 * by `exportBoard`.
 *
 * @throws ErrandError INVALID_INPUT for invalid options, a path that is not a folder, a value that is not an engine; NOT_FOUND for an unknown board.
 */
export async function importBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const functions = await import('./folder-functions.ts')
  return await functions.importBoard(engine, options)
}

/**
 * Writes every task of the board into a folder, which is created if missing. Files with the same content stay untouched; a file that
 * cannot be read, or that belongs to another ledger, is reported and left unchanged.
 *
 * @throws ErrandError INVALID_INPUT for invalid options, a path that is not a folder, a value that is not an engine; NOT_FOUND for an unknown board.
 */
export async function exportBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const functions = await import('./folder-functions.ts')
  return await functions.exportBoard(engine, options)
}
