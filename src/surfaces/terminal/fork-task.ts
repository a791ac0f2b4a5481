// Forks a task and records the surface that the change came through.
import type { Caller } from '../../bus/caller.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'

export async function forkAs(engine: Engine, caller: Caller, task: Task, options: object): Promise<Task> {
  const output = await engine.bus.call('task:fork', { taskId: task.id, ...options }, { caller })
  return (await engine.get((output as { taskId: string }).taskId)) as Task
}
