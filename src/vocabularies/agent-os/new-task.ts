// The making of a task, behind task:create and task:spawn alike (conformance C-07). A caller with a task makes subtasks of its
// own, worked on by agents and bound by the lists that bind itself: the engine that it is given sees to that.
import { z } from 'zod'
import type { AbilityHost } from '../../abilities/ability-host.ts'
import { refuseCommands } from '../../abilities/commands-refused.ts'
import { idsIn } from '../../abilities/own-tasks.ts'
import { taskIdSchema } from '../../abilities/task/task-input.ts'
import type { CreateOptions } from '../../api.ts'
import type { AbilityContext } from '../../bus/ability.ts'
import type { Task } from '../../entities/task.ts'
import { createFields } from '../../options.ts'

const { name, priority, abilities, model, systemPrompt, input } = createFields

export const newTaskSchema = z.strictObject({
  goal: z.string().trim().min(1).describe('What the task is to achieve, in full: it is all that its agent is told.'),
  parentTaskId: taskIdSchema
    .optional()
    .describe('The task that it is a subtask of. Default: the task that calls, if one does.'),
  systemPrompt: systemPrompt.describe('Instructions for its agent in place of the usual ones.'),
  name: name.describe('A short name for lists. Default: the first line of the goal.'),
  priority: priority.describe('Higher runs first. Default 0.'),
  abilities: abilities.describe(
    'What its model may call: ids of abilities, `module:*`, `*`. Never more than the task that calls may.',
  ),
  model: model.describe('The name of the model that works on it.'),
  executor: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('The name of the agent, or other executor, that works on it.'),
  input: input.describe('Data for it, as JSON.'),
  blockedBy: z
    .array(taskIdSchema)
    .max(1_000)
    .optional()
    .describe('Ids of tasks that must be completed before it starts.'),
})
type NewTaskInput = z.output<typeof newTaskSchema>

export function tasksNamedBy({ parentTaskId, blockedBy = [] }: NewTaskInput): string[] {
  return [...idsIn(parentTaskId), ...blockedBy]
}

/** A call that a crash interrupted may have made it: repeated, it finds that one. */
export async function createTask(
  host: AbilityHost,
  given: NewTaskInput,
  { caller, identity }: AbilityContext,
): Promise<Task> {
  refuseCommands(caller, given.executor)
  const { parentTaskId, ...fields } = given
  const parentId = parentTaskId ?? caller.taskId
  const engine = await host.engineFor(caller)
  const [task] = await engine.create([
    {
      ...(fields as CreateOptions & { executor?: string }),
      ...(parentId === undefined ? {} : { parentId }),
      ...(identity === undefined ? {} : { key: identity }),
    },
  ])
  return task as Task
}
