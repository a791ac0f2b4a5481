// board:update: changes a task of the board: its words, its place in the graph, its state; all of it or nothing.
import { z } from 'zod'
import { updateOnBoard } from '../../board/update-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import { boardStatuses } from '../../entities/board.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardFields,
  boardSchema,
  boardTaskSchema,
  fenceSchema,
  freed,
  freedSchema,
  idsAmong,
  leaseSchema,
  nameOf,
  placeOf,
  refSchema,
  refsSchema,
  shown,
  workspaceSchema,
} from './board-input.ts'

/** To set in_progress is to claim; completed is the owner's, or anybody's where nobody owns it. */
export function boardUpdate(host: AbilityHost) {
  return defineAbility({
    id: 'board:update',
    access: 'control',
    description:
      'Changes a task of the board. Status in_progress claims it, completed completes it (a pending one is claimed first), pending lets go of it or tries a failed one again, deleted cancels it. Says which tasks came free.',
    input: z.strictObject({
      id: refSchema,
      ...boardFields,
      activeForm: boardFields.activeForm.nullable(),
      status: z.enum(boardStatuses).optional(),
      owner: boardFields.owner.nullable(),
      metadata: boardFields.metadata.describe('Merged key by key; null takes a key away.'),
      role: boardFields.role.nullable(),
      addBlockedBy: refsSchema.optional(),
      addBlocks: refsSchema.optional(),
      removeBlockedBy: refsSchema.optional(),
      removeBlocks: refsSchema.optional(),
      workspace: workspaceSchema.nullable().optional(),
      result: z.json().optional().describe('What it came to, with status completed.'),
      reason: z.string().trim().min(1).max(500).optional().describe('Why, with status failed, pending or deleted.'),
      as: asSchema.optional(),
      asRole: boardFields.role.describe('Role of who acts: a task of a role is claimed by that role only.'),
      fence: fenceSchema.optional(),
      leaseMs: leaseSchema.optional(),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema, unblocked: z.array(freedSchema) }),
    scope: ({ id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks }) =>
      idsAmong(id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks),
    handle: async ({ id, board, as, asRole, fence, leaseMs, ...patch }, { caller }) => {
      const writer = { as: nameOf(caller, as), role: asRole, fence, leaseMs, source: caller.surface }
      const { task, unblocked } = await updateOnBoard(host, placeOf(board, caller), id, patch, writer)
      return { task: shown(task), unblocked: unblocked.map(freed) }
    },
  })
}
