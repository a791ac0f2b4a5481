// Refusals of a change of a task, in the words of a terminal: the engine's messages name the task by its id, lists by its number.
import { ErrandError } from '../../core/errors.ts'
import type { Task } from '../../entities/task.ts'
import { taskLabel } from './task-labels.ts'

/**
 * Resolves to the result of `work`.
 * @throws the ErrandError of `work` with `#12 lines` instead of the task's id in its message; code and details stay.
 */
export async function namingTask<T>(task: Pick<Task, 'id' | 'seq' | 'name'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!ErrandError.isInstance(error) || !error.message.includes(task.id)) throw error
    throw new ErrandError(error.code, error.message.replaceAll(task.id, taskLabel(task)), error.details, error)
  }
}
