// What is changed of a board: a task is put on it, changed, or taken off, and a board of its own is made for some.
import { z } from 'zod'
import { createOnBoard } from '../../board/create-task.ts'
import { deleteFromBoard } from '../../board/hold-task.ts'
import { numberNewTasks, openBoard } from '../../board/numbering.ts'
import { findOnBoard } from '../../board/task-ref.ts'
import { updateOnBoard } from '../../board/update-task.ts'
import { defineAbility } from '../../bus/ability.ts'
import { mayAffect } from '../../bus/caller.ts'
import { boardRefSchema, boardStatuses, mainBoard } from '../../entities/board.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../ability-host.ts'
import {
  asSchema,
  boardSchema,
  changedSchema,
  fenceSchema,
  freedSchema,
  idsAmong,
  leaseSchema,
  nameOf,
  reasonSchema,
  refsSchema,
  resultSchema,
  taskSchema,
  workspaceSchema,
} from './board-input.ts'

const { name: subject, description, priority, role, tags, executor, input } = fieldsFor('board')

/** What a task of the board is created and changed with; its name is called a subject here. */
const boardFields = {
  subject,
  description,
  activeForm: z.string().max(1_000).optional().describe('What is shown while it is done: "Writing tests".'),
  owner: z.string().trim().max(100).optional().describe('Who shall claim it; empty for anybody.'),
  priority,
  metadata: z.record(z.string(), z.json()).optional(),
  role,
  tags,
}

/** A caller with a task makes subtasks of it. Made once under the identity of its call. */
export function boardCreate(host: AbilityHost) {
  return defineAbility({
    id: 'board:create',
    access: 'create',
    description:
      'Puts a task on the board: what is to be done, after which others, and for whom. It waits until somebody claims it.',
    input: z.strictObject({
      ...boardFields,
      executor,
      input,
      subject: subject.unwrap(),
      parent: boardRefSchema.optional().describe('The task that it is a part of.'),
      blockedBy: refsSchema.optional().describe('Tasks that must be completed before it.'),
      blocks: refsSchema.optional().describe('Tasks that come after it.'),
      board: boardSchema,
    }),
    output: taskSchema,
    scope: ({ parent, blockedBy, blocks }) => idsAmong(parent, blockedBy, blocks),
    onInterrupt: 'rerun',
    handle: async ({ board, owner, ...given }, { caller, identity }) => {
      const key = identity && `board:create ${identity}`
      return { task: await createOnBoard(host, { board, caller }, { ...given, owner: owner || undefined, key }) }
    },
  })
}

/** To set in_progress is to claim; completed is the owner's, or anybody's where nobody owns it. */
export function boardUpdate(host: AbilityHost) {
  return defineAbility({
    id: 'board:update',
    access: 'control',
    description:
      'Changes a task of the board. Status in_progress claims it, completed completes it (a pending one is claimed first), pending lets go of it or tries a failed one again, deleted cancels it. Says which tasks came free.',
    input: z.strictObject({
      id: boardRefSchema,
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
      result: resultSchema.describe('What it came to, with status completed.'),
      reason: reasonSchema.describe('Why, with status failed, pending or deleted.'),
      as: asSchema.optional(),
      asRole: boardFields.role.describe('Role of who acts: a task of a role is claimed by that role only.'),
      fence: fenceSchema.optional(),
      leaseMs: leaseSchema.optional(),
      board: boardSchema,
    }),
    output: changedSchema,
    scope: ({ id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks }) =>
      idsAmong(id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks),
    handle: ({ id, board, as, asRole, fence, leaseMs, ...patch }, { caller }) => {
      const writer = { as: nameOf(caller, as), role: asRole, fence, leaseMs, source: caller.surface }
      return updateOnBoard(host, { board, caller }, id, patch, writer)
    },
  })
}

/** Its parts become tasks of their own, and nothing waits for it any more. Its number is never given again. */
export function boardDelete(host: AbilityHost) {
  return defineAbility({
    id: 'board:delete',
    access: 'control',
    description:
      'Takes a task off the board for good; nothing waits for it any more. (Status deleted keeps it, as canceled.)',
    input: z.strictObject({
      id: boardRefSchema,
      children: z.enum(['promote', 'cascade', 'refuse']).default('promote').describe('What becomes of its parts.'),
      board: boardSchema,
    }),
    output: z.object({ deleted: z.boolean(), id: boardRefSchema, unblocked: z.array(freedSchema) }),
    scope: ({ id }) => idsAmong(id),
    handle: async ({ id, children, board }, { caller }) => {
      const { ref, unblocked } = await deleteFromBoard(host, { board, caller }, id, children)
      return { deleted: true, id: ref, unblocked }
    },
  })
}

/** A board that is there already is returned as it is; for another parent that is a KEY_CONFLICT. Not for models. */
export function boardOpen(host: AbilityHost) {
  return defineAbility({
    id: 'board:open',
    access: 'create',
    description: 'Makes a board with numbers of its own: of all tasks, or of those below one.',
    models: false,
    input: z.strictObject({
      board: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'a name of letters, digits, `_` and `-`')
        .default(mainBoard),
      parent: boardRefSchema.optional().describe('Number on the main board, or id, of the task whose parts it holds.'),
    }),
    output: z.object({ board: z.string(), parentId: z.string().nullable(), nextNumber: z.number() }),
    handle: async ({ board, parent }, { caller }) => {
      if (parent !== undefined) await numberNewTasks(host, mainBoard)
      const { at } = await host.stepContext()
      return host.step({
        name: 'open board',
        *decide(tx) {
          const place = { board: mainBoard, caller }
          const top = parent === undefined ? null : (yield* findOnBoard(tx, place, parent, mayAffect)).task.id
          const { parentId, nextNumber } = yield* openBoard(tx, board, top, at, caller)
          return { board, parentId, nextNumber }
        },
      })
    },
  })
}
