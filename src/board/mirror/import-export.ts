// Imports a folder of task files (those of other boards, of Claude Code, or of an export), and exports a board as such a folder, of plain
// files without the engine's keys. An imported file is restored as it was, except where the board has changed since.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { type BoardEntry, type BoardTask, mainBoard } from '../../entities/board.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { BoardTarget } from '../board-host.ts'
import { mapBoard, viewTask } from '../board-view.ts'
import { loadBoard, numberNewTasks, readBoard } from '../numbering.ts'
import { engineKeys } from '../task-json.ts'
import { exportedTask } from './file-texts.ts'
import { createFolderFiles, type FolderFiles, openFolder } from './folder-files.ts'
import { importFiles, type NewFile, takenWhy } from './import-files.ts'
import { mirrorHostOf } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import {
  bareNumberIn,
  exportedValue,
  type FileValue,
  fileText,
  isMisnamed,
  isSameJson,
  nameOf,
  numberIn,
  readTaskFile,
} from './task-file.ts'

/** Options of `importBoard` and `exportBoard`. */
export interface FolderOptions {
  dir: string
  /** Which board. Default `main`. */
  board?: string
}

export const folderOptionsSchema = z.strictObject({
  dir: z.string().min(1),
  board: z.string().trim().min(1).max(100).default(mainBoard),
})

/** `importBoard` of the package (board-folders.ts). */
export async function importBoard(engine: object, options: FolderOptions): Promise<MirrorReport> {
  const host = mirrorHostOf(engine, 'importBoard')
  const { dir: path, board } = parse(folderOptionsSchema, options, 'importBoard')
  const target: BoardTarget = { board, caller: { surface: 'files' } }
  await numberNewTasks(host, board)
  const dir = openFolder(path, { create: false })
  const report = emptyReport()
  const fresh: NewFile[] = []
  const read = readFolder(createFolderFiles(dir), report)
  const { nextNumber } = await host.read((tx) => loadBoard(tx, board, 0))
  for (const file of read) {
    const { number, value } = file
    const shown = await host.read((tx) => exportedTask(tx, board, number))
    if (number >= nextNumber) fresh.push(file)
    else if (shown !== undefined && isSameJson(shown.value, withoutEngineKeys(value, shown.value)))
      report.skipped.push({ file: nameOf(number), why: 'its task is already on the board, with the same content' })
    else report.refused.push({ file: nameOf(number), why: takenWhy(board, number, nextNumber) })
  }
  const done = await importFiles(host, target, dir, fresh)
  for (const number of done.numbers) report.imported.push(nameOf(number))
  for (const { number, why } of done.refused) report.refused.push({ file: nameOf(number), why })
  for (const { number, key, why } of done.unheld) report.unheld.push({ file: nameOf(number), key, why })
  return report
}

/** Reads the task files of a folder, by number; reports the others. */
function readFolder(files: FolderFiles, report: MirrorReport): NewFile[] {
  const found: NewFile[] = []
  const names = files.list()
  for (const name of names) {
    const number = numberIn(name) ?? bareNumberIn(name)
    if (number === undefined) {
      if (isMisnamed(name))
        report.skipped.push({ file: name, why: 'it is not named like a task file: expected task_N.json with N from 1' })
      continue
    }
    const state = files.read(name)
    if (state.kind === 'none') continue
    if (name !== nameOf(number) && names.includes(nameOf(number))) {
      report.skipped.push({ file: name, why: `${nameOf(number)} has the same number` })
      continue
    }
    try {
      if (state.kind === 'other') throw new ErrandError('INVALID_INPUT', state.why)
      found.push({ number, text: state.text, ...readTaskFile(state.text, number) })
    } catch (error) {
      if (!ErrandError.isInstance(error)) throw error
      report.skipped.push({ file: name, why: error.message })
    }
  }
  return found.sort((a, b) => a.number - b.number)
}

/** A mirrored file without the engine's keys, as the board would export it. */
function withoutEngineKeys(value: FileValue, shown: FileValue): FileValue {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key in shown || !engineKeys.includes(key)))
}

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
