// task:create: makes a task, stored with the opening of its conversation before anybody works on it.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import { createTask, newTaskSchema, tasksNamedBy } from '../../new-task.ts'

/** Returns without waiting for any of the work. */
export function taskCreate(host: AbilityHost) {
  return defineAbility({
    id: 'task:create',
    access: 'create',
    description:
      'Creates a task that works towards a goal in the background; a task that calls gets a subtask of its own.',
    input: newTaskSchema,
    output: z.object({ taskId: z.string() }),
    scope: tasksNamedBy,
    // Made once under the identity of its call, so to make it again does no harm.
    onInterrupt: 'rerun',
    handle: async (input, context) => ({ taskId: (await createTask(host, input, context)).id }),
  })
}
