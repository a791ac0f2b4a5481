// The words for a task's state that teams speak (conformance 1.1): four of them, so the state itself always stands beside.
import { type TaskStatus, taskStatuses } from '../entities/task.ts'

export const teamStatuses = ['active', 'paused', 'completed', 'failed'] as const
export type TeamStatus = (typeof teamStatuses)[number]

const words: Readonly<Record<TaskStatus, TeamStatus>> = {
  submitted: 'active',
  working: 'active',
  paused: 'paused',
  input_required: 'active',
  waiting: 'active',
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
}

export function teamStatusOf({ status }: { status: TaskStatus }): TeamStatus {
  return words[status]
}

/** All states that a word stands for. */
export function statesOf(word: TeamStatus): TaskStatus[] {
  return taskStatuses.filter((status) => words[status] === word)
}
