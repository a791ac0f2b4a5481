// board:delete: takes a task off the board for good.
import { z } from 'zod'
import { deleteFromBoard } from '../../board/hold-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boardSchema, freed, freedSchema, idsAmong, placeOf, refSchema } from './board-input.ts'

/** Its parts become tasks of their own, and nothing waits for it any more. Its number is never given again. */
export function boardDelete(host: AbilityHost) {
  return defineAbility({
    id: 'board:delete',
    access: 'control',
    description:
      'Takes a task off the board for good; nothing waits for it any more. (Status deleted keeps it, as canceled.)',
    input: z.strictObject({
      id: refSchema,
      children: z.enum(['promote', 'cascade', 'refuse']).default('promote').describe('What becomes of its parts.'),
      board: boardSchema,
    }),
    output: z.object({ deleted: z.boolean(), id: refSchema, unblocked: z.array(freedSchema) }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, children, board }, { caller }) => {
      const { ref, unblocked } = await deleteFromBoard(host, placeOf(board, caller), id, children)
      return { deleted: true, id: ref, unblocked: unblocked.map(freed) }
    },
  })
}
