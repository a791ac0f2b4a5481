// task:spawn: makes a task and says whether it runs already or waits for a slot.
import { z } from 'zod'
import type { AbilityHost } from '../../../../abilities/ability-host.ts'
import { defineAbility } from '../../../../bus/ability.ts'
import type { Task } from '../../../../entities/task.ts'
import { afterAdmission } from '../../admission.ts'
import { createTask, newTaskSchema, tasksNamedBy } from '../../new-task.ts'

export function taskSpawn(host: AbilityHost) {
  return defineAbility({
    id: 'task:spawn',
    access: 'create',
    description:
      'Starts a task that works towards a goal in the background, and tells whether it runs or has to queue.',
    input: newTaskSchema,
    output: z.object({ taskId: z.string(), status: z.enum(['pending', 'running']) }),
    scope: tasksNamedBy,
    // Made once under the identity of its call, so to make it again does no harm.
    onInterrupt: 'rerun',
    async handle(input, context) {
      const engine = await host.engineFor(context.caller)
      const task = await afterAdmission(engine, await createTask(host, input, context))
      return { taskId: task.id, status: hasStarted(task) ? ('running' as const) : ('pending' as const) }
    },
  })
}

/** It may be over by now: then it has been running. */
function hasStarted({ status, run }: Task): boolean {
  return status === 'working' || run > 0
}
