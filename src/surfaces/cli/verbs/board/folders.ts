// Synchronizes a board with a folder of task files: `errand board init`, `import`, `export` and `sync`.

import { isEmptyReport, type MirrorReport } from '../../../../board/mirror/mirror-report.ts'
import { texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, note, print } from '../../../terminal/io.ts'
import { aborted, untilInterrupted } from '../../../terminal/stop-listener.ts'
import { folderOf, writeReport } from '../../board-folders.ts'
import { type BoardAccess, boardOptions, boardRef, withBoard } from '../../board-target.ts'
import { defineVerb } from '../../verb.ts'

export const init = defineVerb({
  usage: 'board init [DIR] [--board NAME] [--parent TASK]',
  help: [
    'Creates the ledger and the board if they do not exist, and synchronizes the board with a folder of task files: existing files are imported, existing tasks are written. DIR defaults to .tasks.',
    '  --board NAME   a board with its own numbers',
    '  --parent TASK  the board contains only tasks below this one: its number on the main board, or its id',
  ].join('\n'),
  options: { ...boardOptions, ...texts('parent') },
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const { mirrorBoard } = await import('../../../../index.ts')
    const { rememberFolder } = await import('../../../../board/mirror/known-folders.ts')
    const dir = folderOf(io, given)
    return await withBoard(io, { ...values, create: true, folders: false }, async ({ engine, board }) => {
      const parent = values.parent === undefined ? undefined : await boardRef(engine, values.parent)
      await engine.bus.call('board:open', { board, parent }, cliCaller)
      await using mirror = await mirrorBoard(engine, { dir, board, watch: false })
      const report = await mirror.sync()
      await rememberFolder(engine, { board, dir: mirror.dir })
      const text = `The board ${board} is synchronized with ${dir}. Each "errand board" command synchronizes them again, "errand mcp" while it runs; "errand board sync --watch" does so after any change.`
      if (!values.json) print(io, text)
      return writeReport(io, report, values)
    })
  },
})

const importFolder = defineVerb({
  usage: 'board import DIR [--board NAME]',
  help: 'Imports a folder of task files, task_1.json and so on, with their numbers, in one transaction. Files that cannot be read are reported and skipped; values that the board cannot represent are reported and kept for "errand board export". The files are not changed. Exits with 1 when a task was refused, for example because its number is in use.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [dir] }) {
    const { importBoard } = await import('../../../../index.ts')
    return await withBoard(io, { ...values, create: true }, async ({ engine, board }) => {
      return writeReport(io, await importBoard(engine, { dir: folderOf(io, dir), board }), values)
    })
  },
})

const exportFolder = defineVerb({
  usage: 'board export DIR [--board NAME]',
  help: 'Writes one file per task of the board, task_1.json and so on; imported files are written as they were. The files are a copy: later changes need another export ("errand board sync" keeps a folder synchronized).',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [dir] }) {
    const { exportBoard } = await import('../../../../index.ts')
    return await withBoard(io, values, async ({ engine, board }) => {
      return writeReport(io, await exportBoard(engine, { dir: folderOf(io, dir), board }), values)
    })
  },
})

export const sync = defineVerb({
  usage: 'board sync [DIR] [--watch] [--board NAME]',
  help: [
    'Synchronizes the board and a folder of task files: edits to the files are applied to the board as commands would be, and then the files are written again. A refused edit is reported and saved in a copy, and the file is reset to the values on the board. DIR defaults to .tasks. Exits with 1 when an edit was refused.',
    '  --watch  continue until Ctrl-C, after any change of the board or the files',
  ].join('\n'),
  options: { ...boardOptions, watch: { type: 'boolean', short: 'w' } },
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const dir = folderOf(io, given)
    const write = (report: MirrorReport) => writeReport(io, report, values)
    return await withBoard(io, { ...values, folders: false }, (access) =>
      values.watch ? watchFolder(io, access, dir, write) : syncOnce(access, dir, write),
    )
  },
})

type WriteReport = (report: MirrorReport) => number

async function syncOnce({ engine, board }: BoardAccess, dir: string, write: WriteReport): Promise<number> {
  const { mirrorBoard } = await import('../../../../index.ts')
  await using mirror = await mirrorBoard(engine, { dir, board, watch: false })
  return write(await mirror.sync())
}

async function watchFolder(
  io: CommandIo,
  { engine, board }: BoardAccess,
  dir: string,
  write: WriteReport,
): Promise<number> {
  const { mirrorBoard } = await import('../../../../index.ts')
  const onReport = (report: MirrorReport): void => {
    if (!isEmptyReport(report)) write(report)
  }
  return await untilInterrupted(io, async (signal) => {
    await using mirror = await mirrorBoard(engine, { dir, board, onReport })
    onReport(await mirror.sync())
    note(io, `Synchronizing ${dir}; Ctrl-C ends it.`)
    await aborted(signal)
    return exitCodes.interrupted
  })
}

export { exportFolder as export, importFolder as import }
