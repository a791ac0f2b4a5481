// The making of a task, behind task:create and task:spawn alike (conformance C-07). A caller with a task makes subtasks of its
// own, worked on by agents and bound by the lists that bind itself: the engine that it is given sees to that.
import { z } from 'zod'
import type { AbilityHost } from '../../abilities/ability-host.ts'
import { refuseCommands } from '../../abilities/commands-refused.ts'
import { idsIn } from '../../abilities/own-tasks.ts'
import type { CreateOptions } from '../../api.ts'
import type { AbilityContext } from '../../bus/ability.ts'
import type { Task } from '../../entities/task.ts'
import { fieldsFor } from '../../entities/task-fields.ts'

const { parentId, goal, systemPrompt, name, priority, abilities, model, executor, input, blockedBy } =
  fieldsFor('models')

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
  const engine = await host.engineFor(caller)
  const [task] = await engine.create([
    {
      ...(fields as CreateOptions & { executor?: string }),
      parentId: parentTaskId ?? caller.taskId,
      key: identity,
    },
  ])
  return task as Task
}
