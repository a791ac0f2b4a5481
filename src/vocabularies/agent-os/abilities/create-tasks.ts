// task:create and task:spawn: make a task, stored with the opening of its conversation before anybody works on it (conformance C-07).
import { z } from 'zod'
import type { AbilityHost } from '../../../abilities/ability-host.ts'
import { idsIn } from '../../../abilities/own-tasks.ts'
import { createTasks } from '../../../abilities/task/create-tasks.ts'
import { type AbilityContext, defineAbility } from '../../../bus/ability.ts'
import type { Task } from '../../../entities/task.ts'
import { fieldsFor } from '../../../entities/task-fields.ts'
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

/** Returns without waiting for any of the work. */
export function taskCreate(host: AbilityHost) {
  return defineAbility({
    id: 'task:create',
    description:
      'Creates a task that works towards a goal in the background; a task that calls gets a subtask of its own.',
    output: z.object({ taskId: z.string() }),
    ...creating,
    handle: async (input, context) => ({ taskId: (await createTask(host, input, context)).id }),
  })
}

/** Says, too, whether it runs already or waits for a slot. */
export function taskSpawn(host: AbilityHost) {
  return defineAbility({
    id: 'task:spawn',
    description:
      'Starts a task that works towards a goal in the background, and tells whether it runs or has to queue.',
    output: z.object({ taskId: z.string(), status: z.enum(['pending', 'running']) }),
    ...creating,
    async handle(input, context) {
      const engine = await host.engineFor(context.caller)
      const { id, status, run } = await afterAdmission(engine, await createTask(host, input, context))
      // It may be over by now: then it has been running.
      const hasStarted = status === 'working' || run > 0
      return { taskId: id, status: hasStarted ? ('running' as const) : ('pending' as const) }
    },
  })
}

/** What is made under the identity of its call is made once, so to call again after a crash does no harm. */
const creating = {
  access: 'create',
  input: newTaskSchema,
  scope: ({ parentTaskId, blockedBy = [] }: NewTaskInput) => [...idsIn(parentTaskId), ...blockedBy],
  onInterrupt: 'rerun',
} as const

/**
 * A caller with a task makes subtasks of its own, worked on by agents and bound by the lists that bind itself: the engine that it is
 * given sees to that. A call that a crash interrupted may have made the task: repeated, it finds that one.
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
