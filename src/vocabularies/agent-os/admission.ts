// The state of a task right after a change that may start it. The supervisor starts it in a transaction of its own shortly after, so the
// caller waits briefly to report a start that happens at once.
import { nextTurn } from '../../core/turns.ts'
import type { Engine } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'

/** Turns of the event loop within which a task with a free slot has started. */
const maxTurns = 25

/** The task once it runs, or as it is if it does not get a slot at once. */
export async function afterAdmission(engine: Engine, task: Task): Promise<Task> {
  let current = task
  for (let turn = 0; turn < maxTurns && competes(current); turn++) {
    await nextTurn()
    current = (await engine.get(current)) ?? current
  }
  return current
}

function competes({ ready, executor }: Task): boolean {
  return ready && executor !== null
}
