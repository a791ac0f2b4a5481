// Day1's task: what a team works on, with its objectives and its agents. Times are epoch milliseconds.
import type { ActiveAgent, AgentSummary, TeamContext, TeamTask } from '../../team/context.ts'
import type { Objective } from '../../team/objectives.ts'

export type { ObjectiveStatus } from '../../entities/team.ts'
export type { TeamStatus as TaskStatus } from '../../team/team-status.ts'
export type { Objective }

/** A task as lists show it. `status` is one of four words; `canonicalStatus` is the state itself. */
export interface TaskSummary extends Omit<TeamTask, 'summary'> {
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

export function summaryOf({ summary, ...task }: TeamTask): TaskSummary {
  return { ...task, resultSummary: summary }
}

export function taskOf({ task, objectives, activeAgents, agentSummaries }: TeamContext): Task {
  return { ...summaryOf(task), objectives, activeAgents, agentSummaries }
}

export function contextOf({ task, ...context }: TeamContext): TaskContext {
  return { task: summaryOf(task), ...context }
}
