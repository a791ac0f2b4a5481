// The making of a task, behind task:create and task:spawn alike (conformance C-07). A caller with a task makes subtasks of its
// own, worked on by agents and bound by the lists that bind itself: the engine that it is given sees to that.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import type { AbilityContext } from '../../bus/ability.ts'
import { abilityListSchema } from '../../entities/ability-pattern.ts'
import type { Task } from '../../entities/task.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import { idsIn } from '../own-tasks.ts'
import { taskIdSchema } from './task-input.ts'

export const newTaskSchema = z.strictObject({
  goal: z.string().trim().min(1).describe('What the task is to achieve, in full: it is all that its agent is told.'),
  parentTaskId: taskIdSchema
    .optional()
    .describe('The task that it is a subtask of. Default: the task that calls, if one does.'),
  systemPrompt: z.string().trim().min(1).optional().describe('Instructions for its agent in place of the usual ones.'),
  name: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('A short name for lists. Default: the first line of the goal.'),
  priority: z.int().min(-1_000_000_000).max(1_000_000_000).optional().describe('Higher runs first. Default 0.'),
  abilities: abilityListSchema
    .optional()
    .describe('What its model may call: ids of abilities, `module:*`, `*`. Never more than the task that calls may.'),
  model: z.string().trim().min(1).max(100).optional().describe('The name of the model that works on it.'),
  executor: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('The name of the agent, or other executor, that works on it.'),
  input: z.unknown().optional().describe('Data for it, as JSON.'),
  blockedBy: z
    .array(taskIdSchema)
    .max(1_000)
    .optional()
    .describe('Ids of tasks that must be completed before it starts.'),
})
export type NewTaskInput = Partial<z.output<typeof newTaskSchema>>

export function tasksNamedBy({ parentTaskId, blockedBy = [] }: NewTaskInput): string[] {
  return [...idsIn(parentTaskId), ...blockedBy]
}

/** A call that a crash interrupted may have made it: repeated, it finds that one. `more` is what `create` takes beside it. */
export async function createTask(
  host: AbilityHost,
  input: NewTaskInput,
  { caller, identity }: AbilityContext,
  more: CreateOptions = {},
): Promise<Task> {
  refuseCommands(caller, input.executor)
  const { parentTaskId, ...fields } = input
  const parentId = parentTaskId ?? caller.taskId
  const engine = await host.engineFor(caller)
  const [task] = await engine.create([
    {
      ...(fields as CreateOptions & { executor?: string }),
      ...more,
      ...(parentId === undefined ? {} : { parentId }),
      ...(identity === undefined ? {} : { key: identity }),
    },
  ])
  return task as Task
}
