// The board as a folder of plain task files, without a word of the engine: an imported file comes back as it was, wherever the
// board still says what it said then.

import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import type { BoardEntry, BoardTask } from '../../entities/board.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { everyOnBoard, viewTask } from '../board-view.ts'
import { readBoard } from '../numbering.ts'
import { exportedValue } from './file-image.ts'
import { createFolderFiles, openFolder } from './folder-files.ts'
import { type FolderOptions, folderOptionsSchema } from './import-board.ts'
import { mirrorHostOf } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import { fileText, nameOf, readTaskFile } from './task-file.ts'
import { createStaging, type Staging, writeFile } from './write-file.ts'

/** `exportBoard` of the package (board-folders.ts). */
export async function exportBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const host = mirrorHostOf(engine, 'exportBoard')
  const { dir: path, board } = parse(folderOptionsSchema, options, 'exportBoard')
  const tasks = await readBoard(host, board, (tx) => withEntries(tx, board))
  const dir = openFolder(path)
  // Beside the files, under names with a dot: nothing is left of them in the end.
  const desk = createStaging(createFolderFiles(dir), host.nextId('export'), '.task_')
  const report = emptyReport()
  for (const { task, entry } of tasks) {
    const { file } = entry.fields
    writeOne(desk, task, fileText(exportedValue(task, file), file?.newline ?? false), report)
  }
  return report
}

function* withEntries(tx: Reads, board: string): Op<Array<{ task: BoardTask; entry: BoardEntry }>> {
  const found: Array<{ task: BoardTask; entry: BoardEntry }> = []
  // One by one, as the import has seen them: only then is what it noted comparable.
  for (const { entry, task } of yield* everyOnBoard(tx, board, (row) => row)) {
    found.push({ task: yield* viewTask(tx, board, task, entry), entry })
  }
  return found
}

function writeOne(desk: Staging, task: BoardTask, text: string, report: MirrorReport): void {
  const name = nameOf(task.id)
  const look = desk.files.look(name)
  if (look.kind === 'text' && look.text === text) return
  const why = look.kind === 'other' ? look.why : look.kind === 'text' ? foreignWhy(look.text, task) : undefined
  if (why !== undefined) {
    report.skipped.push({ file: name, why })
    return
  }
  const written = writeFile(desk, name, task.id, text, look.kind === 'text' ? look.text : null)
  if (written.kind === 'changed')
    report.skipped.push({ file: name, why: 'somebody else has just written it; export again' })
  else {
    if (written.old !== undefined) desk.files.remove(written.old)
    report.written.push(name)
  }
}

/** Why a file that is there is not written over; undefined for one that is a task file of this number. */
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
