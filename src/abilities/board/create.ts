// board:create: a task for whoever claims it, or for an executor, with its place in the graph.
import { z } from 'zod'
import { createOnBoard } from '../../board/create-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import {
  boardSchema,
  boardTaskSchema,
  idsAmong,
  metadataSchema,
  placeOf,
  prioritySchema,
  refSchema,
  refsSchema,
  roleSchema,
  shown,
  subjectSchema,
  tagsSchema,
} from './board-input.ts'

/** A caller with a task makes subtasks of it. Made once under the identity of its call. */
export function boardCreate(host: AbilityHost) {
  return defineAbility({
    id: 'board:create',
    access: 'create',
    description:
      'Puts a task on the board: what is to be done, after which others, and for whom. It waits until somebody claims it.',
    input: z.strictObject({
      subject: subjectSchema.describe('What is to be done, in a line.'),
      description: z.string().optional().describe('What one needs to know to do it.'),
      activeForm: z.string().max(1_000).optional().describe('What is shown while it is done: "Writing tests".'),
      owner: z.string().trim().max(100).optional().describe('Who shall claim it; nobody else may then.'),
      priority: prioritySchema.optional().describe('Higher first. Default 0.'),
      metadata: metadataSchema.optional(),
      role: roleSchema.optional().describe('Only agents of this role may claim it.'),
      tags: tagsSchema.optional(),
      parent: refSchema.optional().describe('The task that it is a part of.'),
      blockedBy: refsSchema.optional().describe('Tasks that must be completed before it.'),
      blocks: refsSchema.optional().describe('Tasks that come after it.'),
      executor: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('Executor that runs it as soon as nothing is in its way.'),
      input: z.unknown().optional().describe('What the executor is given.'),
      board: boardSchema,
    }),
    output: z.object({ task: boardTaskSchema }),
    scope: ({ parent, blockedBy, blocks }) => idsAmong(parent, blockedBy, blocks),
    onInterrupt: 'rerun',
    handle: async ({ board, owner, ...given }, { caller, identity }) => {
      refuseCommands(caller, given.executor)
      const task = await createOnBoard(host, placeOf(board, caller), {
        ...given,
        ...(owner ? { owner } : {}),
        ...(identity === undefined ? {} : { key: `board:create ${identity}` }),
      })
      return { task: shown(task) }
    },
  })
}
