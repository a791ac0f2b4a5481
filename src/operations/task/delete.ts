// task:delete: hides a task; live work on it is canceled first.
import { z } from 'zod'
import { deleteOptionsSchema } from '../../entities/options.ts'
import { defineOperation } from '../define-operation.ts'
import { deleteTask } from '../steps/delete.ts'
import { guardDeletion } from '../steps/right-to-answer.ts'
import { requestedBy } from '../steps/step-context.ts'
import { applyTo } from './define-change.ts'
import { verbShape } from './task-input.ts'

/** Returns false for a task that does not exist. */
export const taskDelete = defineOperation({
  id: 'task:delete',
  access: 'control',
  description:
    'Deletes a task. Its subtasks become root tasks (promote), are deleted too (cascade), or prevent the deletion (refuse).',
  routes: [{ endpoint: 'DELETE /tasks/{taskId}', tag: 'Tasks', operationId: 'deleteTask', summary: 'Delete a task' }],
  verb: {
    name: 'rm',
    group: 'ledger',
    summary: 'delete tasks',
    help: 'Deletes tasks; open ones are canceled first. Their children become top-level tasks (promote, the default), are deleted too (cascade), or prevent the deletion (refuse).',
    options: { children: { field: 'children', words: ['promote', 'cascade', 'refuse'] } },
    said: ({ deleted }: { deleted: boolean }) => (deleted ? 'deleted' : 'was already deleted'),
  },
  input: () => z.strictObject({ ...verbShape, children: deleteOptionsSchema().shape.children }),
  output: () => z.object({ deleted: z.boolean() }),
  models: false,
  own: true,
  scope: ({ taskId }) => [taskId],
  handle: async ({ children, ...subject }, { caller }, host) => {
    const { taskId } = subject
    const deletion = deleteTask(taskId, children, requestedBy(await host.stepContext(), caller))
    return { deleted: await applyTo({ host, caller }, subject, guardDeletion(deletion, taskId, caller)) }
  },
})
