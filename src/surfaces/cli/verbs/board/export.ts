// `errand board export`: the board as a folder of task files, as other tools know them.
import { boardOptions, withBoard } from '../../board-place.ts'
import { folderOf, tellReport } from '../../mirror-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
