// What a task came to right after a change that may let it run: its start is one more transaction, made by the supervisor a
// moment later, and whoever asks is told of it if a slot is free at once.
import type { Engine } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'

/** Turns of the event loop in which a task that has a slot is sure to have started; with none free they pass in vain. */
const maxTurns = 25

/** The task once it runs, or as it stands when it does not get a slot at once. */
export async function afterAdmission(engine: Engine, task: Task): Promise<Task> {
  let current = task
  for (let turn = 0; turn < maxTurns && competes(current); turn++) {
    await new Promise<void>((resume) => setImmediate(resume))
    current = (await engine.get(current)) ?? current
  }
  return current
}

function competes({ ready, executor }: Task): boolean {
  return ready && executor !== null
}
