// `errand board init`: a board, and a folder of files that shows it to git, editors and scripts.
import { texts } from '../../arguments.ts'
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { print } from '../../io.ts'
import { folderOf, tellReport } from '../../mirror-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
    return await withBoard(
      io,
      values,
      async ({ engine, board }) => {
        const parent = values.parent === undefined ? undefined : await boardRef(engine, values.parent)
        await engine.bus.call('board:open', { board, parent }, fromHere)
        const mirror = await mirrorBoard(engine, { dir, board, watch: false })
        try {
          const report = await mirror.sync()
          await rememberFolder(engine, { board, dir: mirror.dir })
          if (!values.json)
            print(
              io,
              `The board ${board} is in step with ${dir}, and so it is after each "errand board" and while "errand mcp" runs; "errand board sync --watch" keeps it so whoever changes it.`,
            )
          return tellReport(io, report, values)
        } finally {
          await mirror.close()
        }
      },
      { create: true, folders: false },
    )
  },
})
