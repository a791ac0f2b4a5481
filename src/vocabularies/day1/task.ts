// Day1's task: what a team works on, with its objectives and its agents. Times are epoch milliseconds.
import type { ActiveAgent, AgentSummary, TeamContext, TeamTask } from '../../team/context.ts'
import type { Objective } from '../../team/objectives.ts'
import { type TaskWord, wordOf } from './task-status.ts'

export type { ObjectiveStatus } from '../../entities/team.ts'
export type { TaskWord as TaskStatus } from './task-status.ts'
export type { Objective }

/** A task as lists show it. `status` is one of four words; `canonicalStatus` is the state itself. */
export interface TaskSummary extends Omit<TeamTask, 'summary' | 'status'> {
  status: TaskWord
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
