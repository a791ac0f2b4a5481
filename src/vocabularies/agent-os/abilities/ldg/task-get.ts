// ldg:task:get: the record of one task.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { readLedgerTask, taskRecordSchema } from '../../views/task-view.ts'

/** null for an unknown id, and for a task that was deleted. */
export function ldgTaskGet(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:get',
    access: 'read',
    description: 'Reads the record of a task; null when there is none.',
    input: z.strictObject({ taskId: taskIdSchema }),
    output: z.object({ task: taskRecordSchema.nullable() }),
    models: false,
    handle: ({ taskId }) =>
      host.read(function* (tx) {
        const task = yield* tx.task.get(taskId)
        return { task: task === undefined || task.deletedAt !== null ? null : yield* readLedgerTask(tx, task) }
      }),
  })
}
