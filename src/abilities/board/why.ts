// board:why: why a task does not move.
import { z } from 'zod'
import { whyOnBoard } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import { boardStatuses } from '../../entities/board.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boardSchema, idsAmong, placeOf, refSchema } from './board-input.ts'

export function boardWhy(host: AbilityHost) {
  return defineAbility({
    id: 'board:why',
    access: 'read',
    description: 'Says why a task does not move: what blocks it, who works on it, what it waits for.',
    input: z.strictObject({ id: refSchema, board: boardSchema }),
    output: z.object({
      id: refSchema,
      taskId: z.string(),
      status: z.enum(boardStatuses),
      reason: z.string(),
      message: z.string(),
      blockedBy: z.array(refSchema),
    }),
    scope: ({ id }) => idsAmong(id),
    handle: ({ id, board }, { caller }) => whyOnBoard(host, placeOf(board, caller), id),
  })
}
