// task:delete: hides a task; live work on it is canceled first.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { once } from '../../core/once.ts'
import { deleteOptionsSchema } from '../../entities/options.ts'
import type { AbilityHost } from '../ability-host.ts'
import { deleteTask } from '../steps/delete.ts'
import { guardDeletion } from '../steps/right-to-answer.ts'
import { requestedBy } from '../steps/step-context.ts'
import { applyTo } from './define-change.ts'
import { verbShape } from './task-input.ts'

const taskDeleteInput = once(() => z.strictObject({ ...verbShape, children: deleteOptionsSchema().shape.children }))

const taskDeleteOutput = once(() => z.object({ deleted: z.boolean() }))

/** Returns false for a task that does not exist. */
export function taskDelete(host: AbilityHost) {
  return defineAbility({
    id: 'task:delete',
    access: 'control',
    description:
      'Deletes a task. Its subtasks become root tasks (promote), are deleted too (cascade), or prevent the deletion (refuse).',
    input: taskDeleteInput(),
    output: taskDeleteOutput(),
    models: false,
    scope: ({ taskId }) => [taskId],
    handle: async ({ children, ...subject }, { caller }) => {
      const { taskId } = subject
      const deletion = deleteTask(taskId, children, requestedBy(await host.stepContext(), caller))
      return { deleted: await applyTo({ host, caller }, subject, guardDeletion(deletion, taskId, caller)) }
    },
  })
}
