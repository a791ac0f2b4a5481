// Changes a task and records the surface that the change came through. The methods of the engine would record a program.

import type { Caller } from '../../bus/caller.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'

/** Resolves to the changed task. */
export async function changeAs(
  engine: Engine,
  caller: Caller,
  abilityId: 'task:answer' | 'task:cancel' | 'task:send',
  task: Task,
  input: object,
): Promise<Task> {
  await engine.bus.call(abilityId as string, { taskId: task.id, ...input }, { caller })
  return (await engine.get(task.id)) ?? task
}
