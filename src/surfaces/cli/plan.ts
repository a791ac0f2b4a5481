// The plan: what a file says, as the rest of the command line knows it. parse-plan.ts makes one of a file,
// plan-graph.ts answers questions about its order, plan-round.ts holds it against the ledger.
import type { ChildOptions } from '../../api.ts'
import type { PlanDeadline } from './plan-schema.ts'

/** What a task of a plan is created with; its place (`after`, `tasks`, `key`) is added by the round. */
export type PlanTaskSpec = Omit<ChildOptions, 'after' | 'tasks' | 'key' | 'autoStart' | 'executor' | 'deadline'> & {
  executor?: string
}

export interface PlanTask {
  /** Local names from the top, joined by `/`: unique in the plan, and what targets and `--redo` name. */
  path: string
  /** Its name beside its siblings. */
  name: string
  group: boolean
  /** Path of the group that holds it; null at the top. */
  parent: string | null
  /** Paths of the siblings that it comes after, in the order in which they were named. */
  after: string[]
  /** The same with what the groups around it come after: all that must be completed before it may start. */
  comesAfter: string[]
  /** False: runs only when it is named as a target, or when such a task comes after it. */
  autoStart: boolean
  spec: PlanTaskSpec
  deadline: PlanDeadline | undefined
  /** Of the definition, so that a later run sees that it was changed. The folder of the plan does not count. */
  definitionHash: string
  children: PlanTask[]
}

export interface Plan {
  /** Real path of the file. */
  file: string
  folder: string
  name: string
  description: string | undefined
  concurrency: number | undefined
  /** The model of its goals that name none. */
  model: string | undefined
  /** The folder that its agents may read. */
  files: string | undefined
  /** Steps that an agent may take in one attempt. */
  maxIterations: number | undefined
  tasks: PlanTask[]
  /** Groups included, in the order of the file. */
  byPath: ReadonlyMap<string, PlanTask>
}

/** It has a goal, for an agent to reach. */
export function isGoal({ spec }: Pick<PlanTask, 'spec'>): boolean {
  return spec.goal !== undefined
}

/** All tasks of a level and below, each group before what it holds. */
export function flatten(tasks: readonly PlanTask[]): PlanTask[] {
  return tasks.flatMap((task) => [task, ...flatten(task.children)])
}

/** When the task must have settled, if it is created or tried again now. */
export function deadlineOf({ deadline }: Pick<PlanTask, 'deadline'>, now: number): number | undefined {
  if (deadline === undefined) return undefined
  return 'at' in deadline ? deadline.at : now + deadline.afterMs
}
