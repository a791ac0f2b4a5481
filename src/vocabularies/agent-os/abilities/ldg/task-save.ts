// ldg:task:save: keeps a task as its record says. It is the door for programs that work on tasks themselves and want the ledger
// to remember: what an engine runs is moved by its own verbs.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { taskIdSchema } from '../../../../abilities/task/task-input.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { saveTask } from '../../../../steps/save-task.ts'
import { parseCompletionStatus } from '../../views/status-words.ts'

/** What a record shows beside these is the engine's, and is not taken: a record that was read may be saved as it is. */
const recordSchema = z.object({
  id: z
    .string()
    .max(100)
    .regex(/^task-[a-z0-9]+$/, 'expected an id like `task-abc123`'),
  parentTaskId: taskIdSchema.nullish(),
  completionStatus: z.string().nullish(),
  systemPrompt: z.string().trim().min(1).optional(),
  createdAt: z.int().min(0).max(8.64e15).optional(),
  updatedAt: z.int().min(0).max(8.64e15).optional(),
})

/**
 * An id that is not there yet is created, WORKING by hand, and walks on to where the record says; a known task walks legal edges
 * only, and a save of the same state does nothing. `updatedAt` is kept where it is later than what was known of the task; else the time of
 * the save counts.
 */
export function ldgTaskSave(host: AbilityHost) {
  return defineAbility({
    id: 'ldg:task:save',
    description: 'Saves a task record: creates it, or moves it on along the states of a task.',
    input: z.strictObject({ task: recordSchema }),
    output: z.object({ success: z.boolean() }),
    models: false,
    async handle({ task }) {
      const moment = await host.moment()
      const { treeLimits } = host.drafter
      await host.step(
        saveTask({
          ...moment,
          treeLimits,
          id: task.id,
          parentId: task.parentTaskId ?? undefined,
          systemPrompt: task.systemPrompt,
          outcome: parseCompletionStatus(task.completionStatus),
          createdAt: task.createdAt ?? moment.at,
          updatedAt: task.updatedAt,
        }),
      )
      return { success: true }
    },
  })
}
