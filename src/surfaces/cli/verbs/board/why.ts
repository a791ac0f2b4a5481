// `errand board why`: what a task waits for.
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { printBoard } from '../../board-text.ts'
import { printValue } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board why N',
  help: 'Says why a task does not move: what blocks it, who works on it, what it waits for.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const why = await engine.bus.call('board:why', { id: await boardRef(engine, ref), board }, fromHere)
      printValue(io, values, why, why.message)
      if (values.json) return
      for (const id of why.blockedBy)
        printBoard(io, [(await engine.bus.call('board:get', { id, board }, fromHere)).task])
    }),
})
