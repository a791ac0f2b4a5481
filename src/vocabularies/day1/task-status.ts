// Day1's four words for a task's state (conformance 1.1), both ways.
import { type TaskStatus, taskStatuses } from '../../entities/task.ts'

export const taskWords = ['active', 'paused', 'completed', 'failed'] as const
export type TaskWord = (typeof taskWords)[number]

const words: Readonly<Record<TaskStatus, TaskWord>> = {
  submitted: 'active',
  working: 'active',
  paused: 'paused',
  input_required: 'active',
  waiting: 'active',
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
}

export function wordOf(status: TaskStatus): TaskWord {
  return words[status]
}

/** All states that a word stands for. */
export function statesOf(word: TaskWord): TaskStatus[] {
  return taskStatuses.filter((status) => words[status] === word)
}
