// board:log: who claimed a task, who let go of it, and when.
import { z } from 'zod'
import { claimLogOf } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { boardSchema, idsAmong, placeOf, refSchema } from './board-input.ts'

export function boardLog(host: AbilityHost) {
  return defineAbility({
    id: 'board:log',
    access: 'read',
    description: 'Lists the claims of a task, the oldest first: who took it or let go of it, when, as what, and why.',
    input: z.strictObject({ id: refSchema, board: boardSchema }),
    output: z.object({
      claims: z.array(
        z.object({
          at: z.number(),
          id: refSchema,
          taskId: z.string(),
          event: z.enum(['claimed', 'released']),
          owner: z.string(),
          role: z.string().nullable(),
          source: z.string().nullable(),
          fence: z.number().nullable(),
          reason: z.string().nullable(),
        }),
      ),
    }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board }, { caller }) => ({ claims: await claimLogOf(host, placeOf(board, caller), id) }),
  })
}
