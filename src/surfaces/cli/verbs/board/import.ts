// `errand board import`: a folder of task files becomes tasks of the board.
import { boardOptions, withBoard } from '../../board-place.ts'
import { folderOf, tellReport } from '../../mirror-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board import DIR [--board NAME]',
  help: 'Takes over a folder of task files, task_1.json and so on, with their numbers, in one transaction. What cannot be read is told and skipped; what the board cannot hold is told and kept for "errand board export". The files stay as they are. Exits with 1 when a task was refused: its number is taken, for example.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [dir] }) {
    const { importBoard } = await import('../../../../index.ts')
    return await withBoard(
      io,
      values,
      async ({ engine, board }) => {
        return tellReport(io, await importBoard(engine, { dir: folderOf(io, dir), board }), values)
      },
      { create: true },
    )
  },
})
