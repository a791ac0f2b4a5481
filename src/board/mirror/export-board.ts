// Exports a board as a folder of plain task files without the engine's keys. An imported file is restored as it was, except where the
// board has changed since.

import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import type { BoardEntry, BoardTask } from '../../entities/board.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { mapBoard, viewTask } from '../board-view.ts'
import { readBoard } from '../numbering.ts'
import { exportedValue } from './file-image.ts'
import { createFolderFiles, type FolderFiles, openFolder } from './folder-files.ts'
import { type FolderOptions, folderOptionsSchema } from './import-board.ts'
import { mirrorHostOf } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import { fileText, nameOf, readTaskFile } from './task-file.ts'

/** `exportBoard` of the package (board-folders.ts). */
export async function exportBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const host = mirrorHostOf(engine, 'exportBoard')
  const { dir: path, board } = parse(folderOptionsSchema, options, 'exportBoard')
  const tasks = await readBoard(host, board, (tx) => withEntries(tx, board))
  const dir = openFolder(path, { create: true })
  const [files, exportId] = [createFolderFiles(dir), host.nextId('export')]
  const report = emptyReport()
  for (const { task, entry } of tasks) {
    const { file } = entry.fields
    writeOne(files, task, fileText(exportedValue(task, file), file?.newline ?? false), exportId, report)
  }
  return report
}

function* withEntries(tx: Reads, board: string): Op<Array<{ task: BoardTask; entry: BoardEntry }>> {
  const found: Array<{ task: BoardTask; entry: BoardEntry }> = []
  // One by one, as the import read them: otherwise the differences noted by the import would not be comparable.
  for (const { entry, task } of yield* mapBoard(tx, board, (row) => row)) {
    found.push({ task: yield* viewTask(tx, board, task, entry), entry })
  }
  return found
}

function writeOne(files: FolderFiles, task: BoardTask, text: string, exportId: string, report: MirrorReport): void {
  const name = nameOf(task.id)
  const state = files.read(name)
  if (state.kind === 'text' && state.text === text) return
  const why = state.kind === 'other' ? state.why : state.kind === 'text' ? foreignWhy(state.text, task) : undefined
  if (why !== undefined) {
    report.skipped.push({ file: name, why })
    return
  }
  const fresh = `.${name}-${exportId}`
  files.create(fresh, text)
  files.rename(fresh, name)
  report.written.push(name)
}

/** Why an existing file is not overwritten; undefined for a task file of this number. */
function foreignWhy(text: string, task: BoardTask): string | undefined {
  try {
    const { taskId } = readTaskFile(text, task.id).value
    if (typeof taskId !== 'string' || taskId === task.taskId) return undefined
    return `its task is ${taskId}, and here task ${task.id} is ${task.taskId}: it belongs to another ledger`
  } catch (error) {
    if (ErrandError.isInstance(error)) return error.message
    throw error
  }
}
