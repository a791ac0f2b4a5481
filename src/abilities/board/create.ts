// board:create: a task for whoever claims it, or for an executor, with its place in the graph.
import { z } from 'zod'
import { createOnBoard } from '../../board/create-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import {
  boardFields,
  boardSchema,
  boardTaskSchema,
  idsAmong,
  placeOf,
  refSchema,
  refsSchema,
  shown,
  workFields,
} from './board-input.ts'

/** A caller with a task makes subtasks of it. Made once under the identity of its call. */
export function boardCreate(host: AbilityHost) {
  return defineAbility({
    id: 'board:create',
    access: 'create',
    description:
      'Puts a task on the board: what is to be done, after which others, and for whom. It waits until somebody claims it.',
    input: z.strictObject({
      ...boardFields,
      ...workFields,
      subject: boardFields.subject.unwrap(),
      parent: refSchema.optional().describe('The task that it is a part of.'),
      blockedBy: refsSchema.optional().describe('Tasks that must be completed before it.'),
      blocks: refsSchema.optional().describe('Tasks that come after it.'),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ parent, blockedBy, blocks }) => idsAmong(parent, blockedBy, blocks),
    onInterrupt: 'rerun',
    handle: async ({ board, owner, ...given }, { caller, identity }) => {
      refuseCommands(caller, given.executor)
      const task = await createOnBoard(host, placeOf(board, caller), {
        ...given,
        owner: owner || undefined,
        key: identity && `board:create ${identity}`,
      })
      return { task: shown(task) }
    },
  })
}
