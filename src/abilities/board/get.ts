// board:get: one task of the board, whole.
import { z } from 'zod'
import { getFromBoard } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boardSchema, boardTaskSchema, idsAmong, placeOf, refSchema, shown } from './board-input.ts'

/** An unknown one is NOT_FOUND `Task 9 not found`. */
export function boardGet(host: AbilityHost) {
  return defineAbility({
    id: 'board:get',
    access: 'read',
    description: 'Shows one task of the board with all that is known of it.',
    input: z.strictObject({ id: refSchema, board: boardSchema }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({
      task: shown(await getFromBoard(host, placeOf(board, caller), id)),
    }),
  })
}
