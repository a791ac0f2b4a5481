// board:claim: takes a task for one agent.
import { z } from 'zod'
import { claimOnBoard } from '../../board/claim-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  boardTaskSchema,
  idsAmong,
  leaseSchema,
  placeOf,
  refSchema,
  requireName,
  roleSchema,
  shown,
  workspaceSchema,
} from './board-input.ts'

/** Of any number of claims at once exactly one wins. */
export function boardClaim(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim',
    access: 'control',
    description: 'Takes a pending task that nobody owns and nothing blocks: it is in progress then, and yours alone.',
    input: z.strictObject({
      id: refSchema,
      as: asSchema.optional(),
      role: roleSchema.optional().describe('Role that the agent has.'),
      leaseMs: leaseSchema.optional(),
      workspace: workspaceSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, board, as, ...terms }, { caller }) => ({
      task: shown(
        await claimOnBoard(host, placeOf(board, caller), id, {
          ...terms,
          as: requireName(caller, as),
          source: caller.surface,
        }),
      ),
    }),
  })
}
