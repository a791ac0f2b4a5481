// Day1's task, with its objectives and agents, and the mapping between its four statuses and the engine's. Times are
// epoch milliseconds.
import { type TaskStatus as CanonicalStatus, taskStatuses } from '../../entities/task.ts'
import type { ActiveAgent, AgentSummary, TeamContext, TeamTask } from '../../memory/team/context.ts'
import type { Objective } from '../../memory/team/objectives.ts'

export type { ObjectiveStatus } from '../../entities/team.ts'
export type { Objective }

export const day1Statuses = ['active', 'paused', 'completed', 'failed'] as const
export type TaskStatus = (typeof day1Statuses)[number]

const day1StatusByStatus: Readonly<Record<CanonicalStatus, TaskStatus>> = {
  submitted: 'active',
  working: 'active',
  paused: 'paused',
  input_required: 'active',
  waiting: 'active',
  completed: 'completed',
  failed: 'failed',
  canceled: 'failed',
}

export function day1StatusOf(status: CanonicalStatus): TaskStatus {
  return day1StatusByStatus[status]
}

/** The engine's statuses that a status of Day1 stands for. */
export function canonicalStatusesOf(status: TaskStatus): CanonicalStatus[] {
  return taskStatuses.filter((each) => day1StatusByStatus[each] === status)
}

/** A task as listed. `status` is one of Day1's four; `canonicalStatus` is the engine's. */
export interface TaskSummary extends Omit<TeamTask, 'summary' | 'status'> {
  status: TaskStatus
  canonicalStatus: TeamTask['status']
  /** The outcome, as given when the task was completed; else null. */
  resultSummary: string | null
}

export interface Task extends TaskSummary {
  objectives: Objective[]
  activeAgents: ActiveAgent[]
  agentSummaries: AgentSummary[]
}

/** The context for a new agent. */
export interface TaskContext extends Omit<TeamContext, 'task'> {
  task: TaskSummary
}

export function summaryOf({ summary, status, ...task }: TeamTask): TaskSummary {
  return { ...task, status: day1StatusOf(status), canonicalStatus: status, resultSummary: summary }
}

export function taskOf({ task, objectives, activeAgents, agentSummaries }: TeamContext): Task {
  return { ...summaryOf(task), objectives, activeAgents, agentSummaries }
}

export function contextOf({ task, ...context }: TeamContext): TaskContext {
  return { task: summaryOf(task), ...context }
}
