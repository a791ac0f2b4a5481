// The state of a task right after a change that may start it. The supervisor starts it in a transaction of its own shortly after, for which the
// caller waits, to report a start that happens at once.

import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { AbilityHost } from '../../operations/ability-host.ts'

/** The task once it runs, or as it is if it does not get a slot at once. */
export async function afterAdmission(host: AbilityHost, engine: Engine, task: Task): Promise<Task> {
  if (!task.ready || task.executor === null) return task
  await host.admitted()
  return (await engine.get(task)) ?? task
}
