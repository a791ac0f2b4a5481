// The condition that a task is still as somebody has read it, judged in the transaction of the change itself.

import { ErrandError } from '../errors.ts'
import { type Step, step } from '../ledger/ledger.ts'
import { loadTask } from './moment.ts'

/**
 * The step, if nothing has been written to the task since its version was read; unconditional without one.
 * @throws ErrandError VERSION_CONFLICT { taskId, expected, actual }
 */
export function expecting<R>(judged: Step<R>, taskId: string, expected: number | undefined): Step<R> {
  if (expected === undefined) return judged
  return step(judged.name, function* (tx) {
    const { version } = yield* loadTask(tx, taskId)
    if (version !== expected) {
      throw new ErrandError(
        'VERSION_CONFLICT',
        `Cannot ${judged.name} ${taskId}: it is at version ${version}, and version ${expected} was expected. Read it again, and decide anew.`,
        { taskId, expected, actual: version },
      )
    }
    return yield* judged.decide(tx)
  })
}
