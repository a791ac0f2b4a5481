// The public entry `errand/day1`: Day1's engines for tasks of several agents and for their memory, under their own names over one
// engine. It only translates names; teams, branches, facts and consolidation are the engine's.
export {
  type AgentConsolidation,
  type ConsolidationCounts,
  ConsolidationEngine,
  type ConsolidationHistory,
  type Fact,
  type FactOptions,
  type HistoryFilter,
  type Observation,
  type SessionOptions,
  type TaskConsolidation,
} from './day1/consolidation-engine.ts'
export { ConsolidationError, TaskEngineError, TaskNotFoundError } from './day1/day1-engine.ts'
export type { Objective, ObjectiveStatus, Task, TaskContext, TaskStatus, TaskSummary } from './day1/task.ts'
export {
  type AgentAssignment,
  type AgentCompletion,
  type AssignAgentOptions,
  type CompleteTaskOptions,
  type CreateTaskOptions,
  type ListTasksOptions,
  type MergeResult,
  type ObjectiveUpdate,
  type TaskCompletion,
  TaskEngine,
} from './day1/task-engine.ts'
