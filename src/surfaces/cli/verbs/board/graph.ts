// `errand board graph`: in which order the open tasks can be done, and which of them hold up the most.
import { boardOptions, fromHere, withBoard } from '../../board-place.ts'
import { printBoard } from '../../board-text.ts'
import { print, printJson } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board graph',
  help: 'Lists the open tasks in an order in which they can be done, then those that come after nothing and hold up others, most first. "errand graph" draws the same as a diagram.',
  options: boardOptions,
  positionals: { max: 0 },
  run: (io, { values }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const graph = await engine.bus.call('board:graph', { board }, fromHere)
      if (values.json) printJson(io, graph)
      else if (graph.order.length === 0) print(io, 'No open tasks.')
      else {
        printBoard(io, graph.order)
        for (const { id, holdsUp } of graph.critical) print(io, `    #${id} holds up ${holdsUp}`)
      }
    }),
})
