// A board and a folder of task files: `errand board init`, `import`, `export` and `sync`.

import { isEmptyReport, type MirrorReport } from '../../../../board/mirror/mirror-report.ts'
import { texts } from '../../../../terminal/arguments.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import { exitCodes } from '../../../../terminal/exit-code.ts'
import { type CommandIo, note, print } from '../../../../terminal/io.ts'
import { aborted, untilInterrupted } from '../../../../terminal/stop-listener.ts'
import { folderOf, tellReport } from '../../board-folders.ts'
import { type BoardAccess, boardOptions, boardRef, withBoard } from '../../board-target.ts'
import { defineVerb } from '../../verb.ts'

export const init = defineVerb({
  usage: 'board init [DIR] [--board NAME] [--parent TASK]',
  help: [
    'Makes a ledger and a board where there are none, and brings it in step with a folder of task files: files that are there are imported, tasks that are there are written. DIR is .tasks unless it is given.',
    '  --board NAME   a board with numbers of its own',
    '  --parent TASK  it holds only what is below this task: its number on the main board, or its id',
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
      const words = `The board ${board} is in step with ${dir}, and so it is after each "errand board" and while "errand mcp" runs; "errand board sync --watch" keeps it so whoever changes it.`
      if (!values.json) print(io, words)
      return tellReport(io, report, values)
    })
  },
})

const importFolder = defineVerb({
  usage: 'board import DIR [--board NAME]',
  help: 'Takes over a folder of task files, task_1.json and so on, with their numbers, in one transaction. What cannot be read is told and skipped; what the board cannot hold is told and kept for "errand board export". The files stay as they are. Exits with 1 when a task was refused: its number is taken, for example.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [dir] }) {
    const { importBoard } = await import('../../../../index.ts')
    return await withBoard(io, { ...values, create: true }, async ({ engine, board }) => {
      return tellReport(io, await importBoard(engine, { dir: folderOf(io, dir), board }), values)
    })
  },
})

const exportFolder = defineVerb({
  usage: 'board export DIR [--board NAME]',
  help: 'Writes a file for each task of the board, task_1.json and so on; what was imported comes back as it was. The files are a copy: later changes stand in them only after another export ("errand board sync" keeps a folder in step).',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [dir] }) {
    const { exportBoard } = await import('../../../../index.ts')
    return await withBoard(io, values, async ({ engine, board }) => {
      return tellReport(io, await exportBoard(engine, { dir: folderOf(io, dir), board }), values)
    })
  },
})

export const sync = defineVerb({
  usage: 'board sync [DIR] [--watch] [--board NAME]',
  help: [
    'Brings the board and a folder of task files in step: edits of files are done on the board like any command, and files are written anew. An edit that is refused is told, kept beside, and the file says again what the board says. DIR is .tasks unless it is given. Exits with 1 when an edit was refused.',
    '  --watch  goes on until Ctrl-C, whoever changes the board or the files',
  ].join('\n'),
  options: { ...boardOptions, watch: { type: 'boolean', short: 'w' } },
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const dir = folderOf(io, given)
    const tell = (report: MirrorReport) => tellReport(io, report, values)
    return await withBoard(io, { ...values, folders: false }, (place) =>
      values.watch ? keepInStep(io, place, dir, tell) : syncOnce(place, dir, tell),
    )
  },
})

type Tell = (report: MirrorReport) => number

async function syncOnce({ engine, board }: BoardAccess, dir: string, tell: Tell): Promise<number> {
  const { mirrorBoard } = await import('../../../../index.ts')
  await using mirror = await mirrorBoard(engine, { dir, board, watch: false })
  return tell(await mirror.sync())
}

async function keepInStep(io: CommandIo, { engine, board }: BoardAccess, dir: string, tell: Tell): Promise<number> {
  const { mirrorBoard } = await import('../../../../index.ts')
  const onReport = (report: MirrorReport): void => {
    if (!isEmptyReport(report)) tell(report)
  }
  return await untilInterrupted(io, async (signal) => {
    await using mirror = await mirrorBoard(engine, { dir, board, onReport })
    onReport(await mirror.sync())
    note(io, `Keeping ${dir} in step; Ctrl-C ends it.`)
    await aborted(signal)
    return exitCodes.interrupted
  })
}

export { exportFolder as export, importFolder as import }
