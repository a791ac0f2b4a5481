// `errand board show`: one task of the board, with what is above, before and below it.
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { print, printJson } from '../../io.ts'
import { contextText, readContext } from '../../task-context.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board show N',
  help: 'Shows a task of the board: what it is, who has it, what it comes after and what came of that, its parts, questions, and what was said last. --json gives the task alone. "errand show" knows its runs and calls as well.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async (place) => {
      const { engine, board } = place
      const id = await boardRef(engine, ref)
      if (values.json) printJson(io, (await engine.bus.call('board:get', { id, board }, fromHere)).task)
      else print(io, contextText(await readContext(place, id)))
    }),
})
