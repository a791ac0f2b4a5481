// Day1's task: what a team works on, with its objectives and its agents, and its four words for a task's state (conformance 1.1), both
// ways. Times are epoch milliseconds.
import { type TaskStatus as CanonicalStatus, taskStatuses } from '../../entities/task.ts'
import type { ActiveAgent, AgentSummary, TeamContext, TeamTask } from '../../team/context.ts'
import type { Objective } from '../../team/objectives.ts'

export type { ObjectiveStatus } from '../../entities/team.ts'
export type { Objective }

export const taskWords = ['active', 'paused', 'completed', 'failed'] as const
export type TaskStatus = (typeof taskWords)[number]

const words: Readonly<Record<CanonicalStatus, TaskStatus>> = {
  submitted: 'active',
  working: 'active',
  paused: 'paused',
  input_required: 'active',
  waiting: 'active',
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
}

export function wordOf(status: CanonicalStatus): TaskStatus {
  return words[status]
}

/** All states that a word stands for. */
export function statesOf(word: TaskStatus): CanonicalStatus[] {
  return taskStatuses.filter((status) => words[status] === word)
}

/** A task as lists show it. `status` is one of four words; `canonicalStatus` is the state itself. */
export interface TaskSummary extends Omit<TeamTask, 'summary' | 'status'> {
  status: TaskStatus
  canonicalStatus: TeamTask['status']
  /** What it came to, in the words of whoever completed it; null before, and when nobody said. */
  resultSummary: string | null
}

export interface Task extends TaskSummary {
  objectives: Objective[]
  activeAgents: ActiveAgent[]
  agentSummaries: AgentSummary[]
}

/** All that a new agent has to know. */
export interface TaskContext extends Omit<TeamContext, 'task'> {
  task: TaskSummary
}

export function summaryOf({ summary, status, ...task }: TeamTask): TaskSummary {
  return { ...task, status: wordOf(status), canonicalStatus: status, resultSummary: summary }
}

export function taskOf({ task, objectives, activeAgents, agentSummaries }: TeamContext): Task {
  return { ...summaryOf(task), objectives, activeAgents, agentSummaries }
}

export function contextOf({ task, ...context }: TeamContext): TaskContext {
  return { task: summaryOf(task), ...context }
}
