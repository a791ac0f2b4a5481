// `errand board sync`: the board and a folder of task files in step, once or for as long as somebody lets it run.
import { isEmptyReport, type MirrorReport } from '../../../../board/mirror/mirror-report.ts'
import { type BoardAccess, boardOptions, withBoard } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { type CommandIo, note } from '../../io.ts'
import { folderOf, tellReport } from '../../mirror-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
    const tellNews = (report: MirrorReport) => (isEmptyReport(report) ? undefined : tell(report))
    const work = (place: BoardAccess) =>
      values.watch ? keepInStep(io, place, dir, tellNews) : syncOnce(place, dir, tell)
    return await withBoard(io, values, work, { folders: false })
  },
})

type Tell = (report: MirrorReport) => number | undefined

async function syncOnce({ engine, board }: BoardAccess, dir: string, tell: Tell) {
  const { mirrorBoard } = await import('../../../../index.ts')
  const mirror = await mirrorBoard(engine, { dir, board, watch: false })
  try {
    return tell(await mirror.sync())
  } finally {
    await mirror.close()
  }
}

async function keepInStep(io: CommandIo, { engine, board }: BoardAccess, dir: string, tell: Tell): Promise<number> {
  const { mirrorBoard } = await import('../../../../index.ts')
  const stopped = Promise.withResolvers<void>()
  const unlisten = io.onInterrupt(() => stopped.resolve())
  const mirror = await mirrorBoard(engine, { dir, board, onReport: tell })
  try {
    tell(await mirror.sync())
    note(io, `Keeping ${dir} in step; Ctrl-C ends it.`)
    await stopped.promise
    return exitCodes.interrupted
  } finally {
    unlisten()
    await mirror.close()
  }
}
