// Changes a task and records the surface that the change came through. The methods of the engine would record a program.

import type { Caller } from '../../bus/caller.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'

/** Resolves to the changed task, or to what `said` makes of the output. */
export async function changeAs<S = never>(
  engine: Engine,
  caller: Caller,
  abilityId: string,
  task: Task,
  input: object,
  said?: (output: never) => S,
): Promise<Task | S> {
  const output = await engine.bus.call(abilityId, { taskId: task.id, ...input }, { caller })
  return said?.(output as never) ?? (await engine.get(task.id)) ?? task
}
