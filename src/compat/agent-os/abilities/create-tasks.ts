// task:create and task:spawn: create a task, stored with the opening of its conversation before any work begins.
import { z } from 'zod'
import { defineAbility } from '../../../bus/ability.ts'
import type { AbilityContext } from '../../../bus/ability-context.ts'
import type { Task } from '../../../entities/task.ts'
import { fieldsFor } from '../../../entities/task-fields.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { idsIn } from '../../../operations/own-tasks.ts'
import { creationIn } from '../../../operations/task/create.ts'
import { createTasks } from '../../../operations/task/create-tasks.ts'
import { afterAdmission } from '../admission.ts'

const { parentId, goal, systemPrompt, name, priority, abilities, model, executor, input, blockedBy } =
  fieldsFor('models')

const newTaskSchema = z.strictObject({
  goal: goal.unwrap(),
  parentTaskId: parentId,
  systemPrompt,
  name,
  priority,
  abilities,
  model,
  executor,
  input,
  blockedBy,
})
type NewTaskInput = z.output<typeof newTaskSchema>

/** Does not wait for the work. */
export function taskCreate(host: AbilityHost) {
  return defineAbility({
    id: 'task:create',
    description:
      'Creates a task that works towards a goal in the background; a calling task gets a subtask of its own.',
    output: z.object({ taskId: z.string() }),
    ...creating,
    handle: async (input, context) => ({ taskId: (await createTask(host, input, context)).id }),
  })
}

/** Also returns whether the task runs already or waits for a slot. */
export function taskSpawn(host: AbilityHost) {
  return defineAbility({
    id: 'task:spawn',
    description: 'Starts a task that works towards a goal in the background, and returns whether it runs or is queued.',
    output: z.object({ taskId: z.string(), status: z.enum(['pending', 'running']) }),
    ...creating,
    async handle(input, context) {
      const engine = await host.engineFor(context.caller)
      const { id, status, run } = await afterAdmission(host, engine, await createTask(host, input, context))
      // A task that has ended by now has been running.
      const hasStarted = status === 'working' || run > 0
      return { taskId: id, status: hasStarted ? ('running' as const) : ('pending' as const) }
    },
  })
}

/** Created under the identity of the call, so repeating the call after a crash creates no second task. */
const creating = {
  access: 'create',
  input: newTaskSchema,
  creationIn,
  scope: ({ parentTaskId, blockedBy = [] }: NewTaskInput) => [...idsIn(parentTaskId), ...blockedBy],
  onInterrupt: 'rerun',
} as const

/**
 * A caller with a task creates subtasks of its own, run by agents and limited by its own lists, which its engine enforces. A repeated call
 * finds the task that an interrupted one has created.
 */
async function createTask(
  host: AbilityHost,
  { parentTaskId, ...fields }: NewTaskInput,
  { caller, identity }: AbilityContext,
): Promise<Task> {
  const spec = { ...fields, parentId: parentTaskId ?? caller.taskId, key: identity }
  const [task] = await createTasks(host, caller, [spec])
  return task as Task
}
