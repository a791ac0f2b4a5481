// board:graph: in which order the open tasks can be done, and which of them hold up the most.
import { z } from 'zod'
import { graphOfBoard } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boardSchema, boardTaskSchema, placeOf, refSchema, shown } from './board-input.ts'

export function boardGraph(host: AbilityHost) {
  return defineAbility({
    id: 'board:graph',
    access: 'read',
    description:
      'Shows the open tasks in an order in which they can be done, and which of them hold up the most others.',
    input: z.strictObject({ board: boardSchema }),
    output: z.object({
      order: z.array(boardTaskSchema),
      critical: z.array(z.object({ id: refSchema, holdsUp: z.number() })),
    }),
    handle: async ({ board }, { caller }) => {
      const { order, critical } = await graphOfBoard(host, placeOf(board, caller))
      return { order: order.map(shown), critical }
    },
  })
}
