// The abilities that change a board: board:create, board:update, board:delete and board:open.
import { z } from 'zod'
import { mayAffect } from '../../bus/caller.ts'
import { once } from '../../core/once.ts'
import { anyJsonObject } from '../../core/parse.ts'
import { boardRefSchema, boardStatuses, mainBoard } from '../../entities/board.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import { asSchema, fenceSchema, nameOf } from '../../operations/acting-as.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { createOnBoard } from '../create-task.ts'
import { numberNewTasks, openBoard } from '../numbering.ts'
import { deleteFromBoard } from '../owned-task.ts'
import { findOnBoard } from '../task-ref.ts'
import { updateOnBoard } from '../update-task.ts'
import {
  boardSchema,
  changedSchema,
  idsAmong,
  leaseSchema,
  reasonSchema,
  refsSchema,
  resultSchema,
  taskSchema,
  unblockedTaskSchema,
  workspaceSchema,
} from './board-input.ts'

/** The fields with which a task of the board is created and updated; `subject` is the name of the task. */
const boardFields = once(() => {
  const { name: subject, description, priority, role, tags } = fieldsFor('board')
  return {
    subject,
    description,
    activeForm: z
      .string()
      .max(1_000)
      .optional()
      .describe('Shown while the task is in progress, for example "Writing tests".'),
    owner: z.string().trim().max(100).optional().describe('Reserves the task for this claimant; empty for any.'),
    priority,
    metadata: anyJsonObject().optional(),
    role,
    tags,
  }
})

/** A caller with a task creates subtasks of it. Repeating a call with the same identity creates no second task. */
export const boardCreate = defineOperation({
  id: 'board:create',
  access: 'create',
  description:
    'Creates a task on the board, with its blockers and an optional owner. The task stays pending until it is claimed.',
  input: () =>
    z.strictObject({
      ...boardFields(),
      executor: fieldsFor('board').executor,
      input: fieldsFor('board').input,
      subject: boardFields().subject.unwrap(),
      parent: boardRefSchema.optional().describe('The parent task.'),
      blockedBy: refsSchema().optional().describe('Tasks that must be completed before this one.'),
      blocks: refsSchema().optional().describe('Tasks that this one blocks.'),
      board: boardSchema,
    }),
  output: taskSchema,
  scope: ({ parent, blockedBy, blocks }) => idsAmong(parent, blockedBy, blocks),
  onInterrupt: 'rerun',
  handle: async ({ board, owner, ...given }, { caller, identity }, host) => {
    const key = identity && `board:create ${identity}`
    return { task: await createOnBoard(host, { board, caller }, { ...given, owner: owner || undefined, key }) }
  },
})

/** Setting in_progress claims the task. Only its owner may set completed; a task without an owner may be completed by any client. */
export const boardUpdate = defineOperation({
  id: 'board:update',
  access: 'control',
  description:
    'Updates a task of the board. Status in_progress claims it, completed completes it (a pending task is claimed first), pending releases it or retries a failed one, deleted cancels it. Returns the tasks that this unblocks.',
  input: () =>
    z.strictObject({
      id: boardRefSchema,
      ...boardFields(),
      activeForm: boardFields().activeForm.nullable(),
      status: z.enum(boardStatuses).optional(),
      owner: boardFields().owner.nullable(),
      metadata: boardFields().metadata.describe('Merged key by key; null removes a key.'),
      role: boardFields().role.nullable(),
      addBlockedBy: refsSchema().optional(),
      addBlocks: refsSchema().optional(),
      removeBlockedBy: refsSchema().optional(),
      removeBlocks: refsSchema().optional(),
      workspace: workspaceSchema().nullable().optional(),
      result: resultSchema().describe('The result, with status completed.'),
      reason: reasonSchema().describe('The reason, with status failed, pending or deleted.'),
      as: asSchema.optional(),
      asRole: boardFields().role.describe('Role of the claimant: a task with a role can only be claimed by that role.'),
      fence: fenceSchema().optional(),
      leaseMs: leaseSchema().optional(),
      board: boardSchema,
    }),
  output: changedSchema,
  scope: ({ id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks }) =>
    idsAmong(id, addBlockedBy, addBlocks, removeBlockedBy, removeBlocks),
  handle: ({ id, board, as, asRole, fence, leaseMs, ...patch }, { caller }, host) => {
    const writer = { as: nameOf(caller, as), role: asRole, fence, leaseMs, source: caller.surface }
    return updateOnBoard(host, { board, caller }, id, patch, writer)
  },
})

/** By default its subtasks become root tasks. Dependents no longer wait for the task, and its number is not reused. */
export const boardDelete = defineOperation({
  id: 'board:delete',
  access: 'control',
  description:
    'Deletes a task from the board permanently and removes it from the blockers of other tasks. (Status deleted keeps it as canceled.)',
  input: () =>
    z.strictObject({
      id: boardRefSchema,
      children: z
        .enum(['promote', 'cascade', 'refuse'])
        .default('promote')
        .describe(
          'What happens to its subtasks: promote makes them root tasks (default), cascade deletes them, refuse fails.',
        ),
      board: boardSchema,
    }),
  output: () => z.object({ deleted: z.boolean(), id: boardRefSchema, unblocked: z.array(unblockedTaskSchema()) }),
  scope: ({ id }) => idsAmong(id),
  handle: async ({ id, children, board }, { caller }, host) => {
    const { ref, unblocked } = await deleteFromBoard(host, { board, caller }, id, children)
    return { deleted: true, id: ref, unblocked }
  },
})

/** Returns an existing board unchanged; with another parent it throws KEY_CONFLICT. Not for models. */
export const boardOpen = defineOperation({
  id: 'board:open',
  access: 'create',
  description: 'Opens a board with its own numbering, for all tasks or for the subtasks of one.',
  models: false,
  input: () =>
    z.strictObject({
      board: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'expected a name of letters, digits, `_` and `-`')
        .default(mainBoard),
      parent: boardRefSchema
        .optional()
        .describe('Number on the main board, or id, of the task whose subtasks the board holds.'),
    }),
  output: () => z.object({ board: z.string(), parentId: z.string().nullable(), nextNumber: z.number() }),
  handle: async ({ board, parent }, { caller }, host) => {
    if (parent !== undefined) await numberNewTasks(host, mainBoard)
    const { at } = await host.stepContext()
    return host.step({
      name: 'open board',
      *decide(tx) {
        const main = { board: mainBoard, caller }
        const top = parent === undefined ? null : (yield* findOnBoard(tx, main, parent, mayAffect)).task.id
        const { parentId, nextNumber } = yield* openBoard(tx, board, top, at, caller)
        return { board, parentId, nextNumber }
      },
    })
  },
})
