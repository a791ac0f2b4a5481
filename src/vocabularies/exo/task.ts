// Exo's task: its states, its fields, and how it is made of the engine's. The engine keeps more than Exo shows, and one thing
// that Exo shows, the latest run, is not in the metadata that the engine keeps.

import type { ExecutorTask } from '../../api/executor.ts'
import { defined } from '../../core/defined.ts'
import { briefError, type StoredError } from '../../core/errors.ts'
import type { Engine } from '../../engine-api.ts'
import type { Task as EngineTask } from '../../entities/task.ts'

/** The eight states by Exo's names; as a type, one of their values. */
export const TaskStatus = Object.freeze({
  SUBMITTED: 'submitted',
  WORKING: 'working',
  PAUSED: 'paused',
  INPUT_REQUIRED: 'input_required',
  WAITING: 'waiting',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELED: 'canceled',
})
export type TaskStatus = (typeof TaskStatus)[keyof typeof TaskStatus]

/** A task as every method returns it: a copy, safe to change. */
export interface Task {
  /** `task-…`, unique. */
  id: string
  name: string
  /** Empty when none was given. */
  description: string
  status: TaskStatus
  /** An integer; higher runs first. */
  priority: number
  /** Null for a root. */
  parentId: string | null
  /**
   * What was given, and in `run_id` the latest run of the task, `<task id>/run-<number>`, once there is one. The manager
   * never stores that: it may be handed back to `update` with the rest. Another `run_id` of yours is kept and shown instead.
   */
  metadata: Record<string, unknown>
  createdAt: Date
  /** Moves with every change. */
  updatedAt: Date
  /** JSON image of what the executor returned; null until completed. */
  result: unknown
  /** Why it failed; null otherwise. */
  error: StoredError | null
  /** The reason given to `cancel`, or why it was let go; null otherwise. */
  statusReason: string | null
  /** Counts from 1; a retry adds one. */
  attempt: number
  /** What it asks for while it is INPUT_REQUIRED; null otherwise. */
  prompt: string | null
}

/** Where a task that is worked on by hand keeps what it asks for; never shown in `metadata`. */
export const promptKey = 'exo:prompt'
const ownRunId = /^task-[a-z0-9]+\/run-\d+$/
export const pageSize = 1_000

export async function listAll(engine: Engine, filter: { status?: TaskStatus | undefined }): Promise<EngineTask[]> {
  const found: EngineTask[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await engine.list({ ...defined({ ...filter, after }), limit: pageSize })
    found.push(...page.tasks)
    after = page.next
  }
  return found
}

export function viewOf(task: EngineTask | ExecutorTask): Task {
  const { [promptKey]: prompt, ...shown } = task.metadata
  return {
    id: task.id,
    name: task.name,
    description: task.description,
    status: task.status,
    priority: task.priority,
    parentId: task.parentId,
    metadata: task.run === 0 ? shown : { run_id: `${task.id}/run-${task.run}`, ...shown },
    createdAt: new Date(task.createdAt),
    updatedAt: new Date(task.updatedAt),
    result: task.result,
    error: task.error && briefError(task.error),
    statusReason: task.statusReason,
    attempt: task.attempt,
    prompt: task.status === 'input_required' ? (task.questions[0]?.question ?? (prompt as string) ?? null) : null,
  }
}

/** What was given, without what a view had put into it. */
export function toStored(given: Record<string, unknown>): Record<string, unknown> {
  const { [promptKey]: _prompt, run_id: runId, ...rest } = given
  return runId === undefined || (typeof runId === 'string' && ownRunId.test(runId)) ? rest : { ...rest, run_id: runId }
}

/** A question that is open stays so whatever else is said of the task. */
export function promptOf(task: EngineTask | null): Record<string, unknown> {
  return task?.status === 'input_required' && promptKey in task.metadata
    ? { [promptKey]: task.metadata[promptKey] }
    : {}
}
