// board:heartbeat: a sign of life of whoever has claimed a task with a lease.
import { z } from 'zod'
import { heartbeatOnBoard } from '../../board/hold-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  fenceSchema,
  idsAmong,
  placeOf,
  refSchema,
  requireName,
  shown,
} from './board-input.ts'

export function boardHeartbeat(host: AbilityHost) {
  return defineAbility({
    id: 'board:heartbeat',
    access: 'control',
    description: 'A sign of life: the lease of your claim begins anew.',
    input: z.strictObject({
      id: refSchema,
      as: asSchema.optional(),
      fence: fenceSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, fence }, { caller }) => {
      const quote = { owner: requireName(caller, as), ...(fence === undefined ? {} : { fence }) }
      return { task: shown(await heartbeatOnBoard(host, placeOf(board, caller), id, quote)) }
    },
  })
}
