// A row of the task table: to a record and back, and which columns each statement writes.
import type { TaskPolicy, TaskRecord, TaskStatus } from '../../entities/task.ts'
import type { StoredError } from '../../errors.ts'
import { fromJson } from '../../json.ts'
import type { NewTask } from '../ledger.ts'
import type { TaskTableRow } from '../schema.ts'

export type Row = Omit<TaskTableRow, 'seq'> & { seq: number }

export function toRecord(stored: Row): TaskRecord {
  return {
    seq: stored.seq,
    id: stored.id,
    key: stored.key,
    name: stored.name,
    goal: stored.goal,
    description: stored.description,
    status: stored.status as TaskStatus,
    statusReason: stored.status_reason,
    group: stored.is_group === 1,
    ready: stored.ready === 1,
    claimable: stored.claimable === 1,
    held: stored.held === 1,
    executor: stored.executor,
    input: fromJson(stored.input),
    result: fromJson(stored.result),
    error: stored.error === null ? null : fromJson<StoredError>(stored.error),
    priority: stored.priority,
    parentId: stored.parent_id,
    lane: stored.lane,
    depth: stored.depth,
    childCount: stored.child_count,
    owner: stored.owner,
    fence: stored.fence,
    leaseMs: stored.lease_ms,
    leaseUntil: stored.lease_until,
    role: stored.role,
    tags: fromJson<string[]>(stored.tags),
    attempt: stored.attempt,
    run: stored.run,
    runOpen: stored.run_open === 1,
    openBlockers: stored.open_blockers,
    stuckBy: stored.stuck_by,
    wakes: stored.wakes,
    crashes: stored.crashes,
    notBefore: stored.not_before,
    deadline: stored.deadline,
    policy: fromJson<TaskPolicy>(stored.policy),
    metadata: fromJson(stored.metadata),
    progress: stored.progress === null ? null : fromJson(stored.progress),
    snapshot: stored.snapshot,
    version: stored.version,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    completedAt: stored.completed_at,
    deletedAt: stored.deleted_at,
  }
}

const json = (value: unknown): string => (value === undefined || value === null ? 'null' : JSON.stringify(value))
export const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)

/** What `save` writes: everything that changes while a task lives. */
export const stateColumns = (task: NewTask | TaskRecord) => ({
  status: task.status,
  status_reason: task.statusReason,
  ready: task.ready ? 1 : 0,
  claimable: task.claimable ? 1 : 0,
  held: task.held ? 1 : 0,
  result: json(task.result),
  error: jsonOrNull(task.error),
  owner: task.owner,
  fence: task.fence,
  lease_ms: task.leaseMs,
  lease_until: task.leaseUntil,
  attempt: task.attempt,
  run: task.run,
  run_open: task.runOpen ? 1 : 0,
  open_blockers: task.openBlockers,
  wakes: task.wakes,
  crashes: task.crashes,
  not_before: task.notBefore,
  deadline: task.deadline,
  snapshot: task.snapshot,
  updated_at: task.updatedAt,
  completed_at: task.completedAt,
})

/** What `saveDefinition` writes: what the task was told to be. */
export const definitionColumns = (task: NewTask | TaskRecord) => ({
  name: task.name,
  goal: task.goal,
  description: task.description,
  executor: task.executor,
  input: json(task.input),
  priority: task.priority,
  parent_id: task.parentId,
  lane: task.lane,
  depth: task.depth,
  role: task.role,
  tags: json(task.tags),
  policy: json(task.policy),
  metadata: json(task.metadata),
  deleted_at: task.deletedAt,
})

export const stateNames = [
  'status',
  'status_reason',
  'ready',
  'claimable',
  'held',
  'result',
  'error',
  'owner',
  'fence',
  'lease_ms',
  'lease_until',
  'attempt',
  'run',
  'run_open',
  'open_blockers',
  'wakes',
  'crashes',
  'not_before',
  'deadline',
  'snapshot',
  'updated_at',
  'completed_at',
] as const // prettier-ignore
export const definitionNames = [
  'name',
  'goal',
  'description',
  'executor',
  'input',
  'priority',
  'parent_id',
  'lane',
  'depth',
  'role',
  'tags',
  'policy',
  'metadata',
  'deleted_at',
] as const // prettier-ignore
export const birthNames = ['id', 'key', 'is_group', 'child_count', 'progress', 'version', 'created_at'] as const
