// board:claim_next: takes the best task there is for one agent.
import { z } from 'zod'
import { claimNext } from '../../board/claim-task.ts'
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
  tagsSchema,
  workspaceSchema,
} from './board-input.ts'

/** Highest priority first, then the oldest; `task` is null when there is none. */
export function boardClaimNext(host: AbilityHost) {
  return defineAbility({
    id: 'board:claim_next',
    access: 'control',
    description: 'Takes the most urgent task that may be claimed (of a role, tags, a parent); null when there is none.',
    input: z.strictObject({
      as: asSchema.optional(),
      role: roleSchema.optional().describe('Role that the agent has.'),
      tags: tagsSchema.optional(),
      parent: refSchema.optional().describe('Only the parts of this task.'),
      leaseMs: leaseSchema.optional(),
      workspace: workspaceSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema.nullable() }),
    scope: ({ parent }) => idsAmong(parent),
    handle: async ({ board, as, ...wanted }, { caller }) => {
      const task = await claimNext(host, placeOf(board, caller), {
        ...wanted,
        as: requireName(caller, as),
        source: caller.surface,
      })
      return { task: task === null ? null : shown(task) }
    },
  })
}
