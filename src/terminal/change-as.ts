// A change of a task that is recorded with the surface through which it came: the methods of the engine are those of a program.

import type { Caller } from '../bus/caller.ts'
import type { Engine } from '../engine-api.ts'
import type { Task } from '../entities/task.ts'

/** Resolves to the task as it is then. */
export async function changeAs(
  engine: Engine,
  caller: Caller,
  abilityId: 'task:answer' | 'task:send',
  task: Task,
  input: object,
): Promise<Task> {
  await engine.bus.call(abilityId as string, { taskId: task.id, ...input }, { caller })
  return (await engine.get(task.id)) ?? task
}
