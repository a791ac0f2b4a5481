// Exo's task: its states, its fields, and the conversion from the engine's task. The engine stores more than Exo shows; only the latest
// run, which Exo shows in `metadata`, is not part of the stored metadata.

import { briefError, type StoredError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { ExecutorTask } from '../../entities/executor.ts'
import type { Task as EngineTask } from '../../entities/task.ts'

/** The eight states by Exo's names; as a type, their values. */
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

/** A task as returned by every method: a copy, safe to change. */
export interface Task {
  /** `task-…`, unique. */
  id: string
  name: string
  /** Empty if not given. */
  description: string
  status: TaskStatus
  /** An integer; higher runs first. */
  priority: number
  /** Null for a root. */
  parentId: string | null
  /**
   * The given metadata, and in `run_id` the latest run of the task, `<task id>/run-<number>`, if there is one. The manager does not
   * store that value, so it may be passed back to `update`. A `run_id` of your own is stored and shown instead.
   */
  metadata: Record<string, unknown>
  createdAt: Date
  /** Time of the latest change. */
  updatedAt: Date
  /** JSON image of the executor's return value; null until completed. */
  result: unknown
  /** Why the task failed; else null. */
  error: StoredError | null
  /** The reason given to `cancel`, or why the task was released; else null. */
  statusReason: string | null
  /** Counts from 1; each retry adds one. */
  attempt: number
  /** The question while the task is INPUT_REQUIRED; else null. */
  prompt: string | null
}

/** The metadata key of the question of a task that is worked on by hand; never shown in `metadata`. */
export const promptKey = 'exo:prompt'
const ownRunId = /^[A-Za-z0-9][A-Za-z0-9_-]*\/run-\d+$/
export const pageSize = 1_000

export async function listAll(engine: Engine, filter: { status?: TaskStatus | undefined }): Promise<EngineTask[]> {
  const found: EngineTask[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await engine.list({ ...omitUndefined({ ...filter, after }), limit: pageSize })
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

/** The given metadata without what a view adds. */
export function toStored(given: Record<string, unknown>): Record<string, unknown> {
  const { [promptKey]: _prompt, run_id: runId, ...rest } = given
  return runId === undefined || (typeof runId === 'string' && ownRunId.test(runId)) ? rest : { ...rest, run_id: runId }
}

/** An open question is kept when other metadata changes. */
export function promptOf(task: EngineTask | null): Record<string, unknown> {
  return task?.status === 'input_required' && promptKey in task.metadata
    ? { [promptKey]: task.metadata[promptKey] }
    : {}
}
