// board:ready: what may be claimed now.
import { z } from 'zod'
import { readyOnBoard } from '../../board/read-board.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  boardSchema,
  boardTaskSchema,
  idsAmong,
  placeOf,
  refSchema,
  roleSchema,
  shown,
  tagsSchema,
} from './board-input.ts'

export function boardReady(host: AbilityHost) {
  return defineAbility({
    id: 'board:ready',
    access: 'read',
    description: 'Lists what may be claimed now: pending, owned by nobody, blocked by nothing; the most urgent first.',
    input: z.strictObject({
      role: roleSchema.optional(),
      tags: tagsSchema.optional(),
      parent: refSchema.optional(),
      limit: z.int().min(0).max(1_000).default(100),
      board: boardSchema,
    }),
    output: z.object({ tasks: z.array(boardTaskSchema), total: z.number() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ board, limit, ...filter }, { caller }) => {
      const found = await readyOnBoard(host, placeOf(board, caller), filter)
      return { tasks: found.slice(0, limit).map(shown), total: found.length }
    },
  })
}
