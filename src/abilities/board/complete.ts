// board:complete: the owner has done its task.
import { z } from 'zod'
import { completeOnBoard } from '../../board/hold-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  fenceSchema,
  freed,
  freedSchema,
  idsAmong,
  nameOf,
  placeOf,
  refSchema,
  shown,
} from './board-input.ts'

/** Only what is claimed: a pending task is claimed first, or set to completed with `board:update`. */
export function boardComplete(host: AbilityHost) {
  return defineAbility({
    id: 'board:complete',
    access: 'control',
    description: 'Completes a task that you have claimed, with what it came to. Says which tasks came free by it.',
    input: z.strictObject({
      id: refSchema,
      result: z.json().optional().describe('What it came to.'),
      as: asSchema.optional(),
      fence: fenceSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema, unblocked: z.array(freedSchema) }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence, result }, { caller }) => {
      const writer = { as: nameOf(caller, as), fence, source: caller.surface }
      const { task, unblocked } = await completeOnBoard(host, placeOf(board, caller), id, result, writer)
      return { task: shown(task), unblocked: unblocked.map(freed) }
    },
  })
}
