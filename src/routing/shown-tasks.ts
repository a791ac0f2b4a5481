// What of the tasks is put before a model: how many, in which order, and how much of each text. A prompt must not grow with
// the ledger.
import { isSettled, type TaskStatus } from '../entities/task.ts'

/** Tasks in one prompt at most. */
export const mostShownTasks = 50

/**
 * The open ones among tasks, as a model is shown them: first those that wait for an answer, then those that changed last;
 * at most `mostShownTasks`.
 */
export function shownTasks<T extends { status: TaskStatus; updatedAt?: number }>(tasks: readonly T[]): T[] {
  return tasks
    .filter((task) => !isSettled(task.status))
    .sort((a, b) => waits(b) - waits(a) || (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
    .slice(0, mostShownTasks)
}

const waits = (task: { status: TaskStatus }) => Number(task.status === 'input_required')

/** The beginning of a text that is too long to be shown whole. */
export function clip(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`
}
