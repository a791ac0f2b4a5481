// board:release: the owner lets go of a task, and others may claim it.
import { z } from 'zod'
import { releaseOnBoard } from '../../board/hold-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  fenceSchema,
  idsAmong,
  nameOf,
  placeOf,
  refSchema,
  shown,
} from './board-input.ts'

export function boardRelease(host: AbilityHost) {
  return defineAbility({
    id: 'board:release',
    access: 'control',
    description: 'Lets go of a task that you have claimed: it is pending again, and anybody may claim it.',
    input: z.strictObject({
      id: refSchema,
      reason: z.string().trim().min(1).max(500).optional().describe('Why, for whoever takes it next.'),
      as: asSchema.optional(),
      fence: fenceSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence, reason }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      return { task: shown(await releaseOnBoard(host, placeOf(board, caller), id, reason, writer)) }
    },
  })
}
