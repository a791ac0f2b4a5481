// The making of a task, behind task:create and task:spawn alike (conformance C-07). A caller with a task makes subtasks of its
// own, worked on by agents and bound by the lists that bind itself: the engine that it is given sees to that.
import { z } from 'zod'
import type { CreateOptions } from '../../api.ts'
import type { AbilityContext } from '../../bus/ability.ts'
import type { Task } from '../../entities/task.ts'
import { fieldsFor } from '../../entities/task-fields.ts'
import type { AbilityHost } from '../ability-host.ts'
import { refuseCommands } from '../commands-refused.ts'
import { idsIn } from '../own-tasks.ts'

const { parentId, goal, ...further } = fieldsFor('models')
const { systemPrompt, name, priority, abilities, model, executor, input, blockedBy } = further

export const newTaskSchema = z.strictObject({
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
/** The same for a task that may be without a goal, and for a team. */
export const anyTaskSchema = z.strictObject({ ...newTaskSchema.shape, ...further, goal })
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
  const engine = await host.engineFor(caller)
  const [task] = await engine.create([
    {
      ...(fields as CreateOptions & { executor?: string }),
      ...more,
      parentId: parentTaskId ?? caller.taskId,
      key: identity,
    },
  ])
  return task as Task
}
