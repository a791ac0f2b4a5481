// Tasks as people see them: the row, with the related rows.
import type { Question } from '../../entities/question.ts'
import { type BriefRecord, type BriefTask, briefTask, type Task, type TaskRecord } from '../../entities/task.ts'
import { storedFrom } from '../../entities/task-fields.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import { isFree } from '../../machines/readiness.ts'
import { openQuestions } from './explain.ts'

/** The views of tasks that need no other rows; undefined if one of them does. */
export function plainViews(records: readonly TaskRecord[]): Task[] | undefined {
  const needsRows = ({ openBlockers, status }: TaskRecord): boolean => openBlockers > 0 || status === 'input_required'
  return records.some(needsRows) ? undefined : records.map((record) => toTask(record, [], []))
}

export function* viewsOf(tx: Reads, records: readonly TaskRecord[]): Op<Task[]> {
  const views: Task[] = []
  for (const record of records) {
    const blockers = record.openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(record.id)
    const questions: Question[] = record.status === 'input_required' ? yield* openQuestions(tx, record.id) : []
    views.push(toTask(record, blockers, questions))
  }
  return views
}

/** The views of tasks in a graph. */
export function* briefViewsOf(tx: Reads, records: readonly BriefRecord[]): Op<BriefTask[]> {
  // The fields that were not read are left out again.
  const views = yield* viewsOf(tx, records as readonly TaskRecord[])
  return views.map(briefTask)
}

/** The view of a stored task. */
export function* viewOf(tx: Reads, taskId: string): Op<Task> {
  const [view] = yield* viewsOf(tx, [(yield* tx.task.get(taskId)) as TaskRecord])
  return view as Task
}

/** Makes the view of a task from its row. */
export function toTask(record: TaskRecord, blockedBy: string[], questions: Question[]): Task {
  return {
    id: record.id,
    seq: record.seq,
    ...storedFrom(record),
    status: record.status,
    ready: isFree(record),
    statusReason: record.statusReason,
    result: record.result,
    error: record.error,
    owner: record.owner,
    fence: record.fence,
    leaseUntil: record.leaseUntil,
    group: record.group,
    forkedFrom: record.forkedFrom,
    system: record.system,
    blockedBy,
    questions,
    progress: record.progress,
    generation: record.generation,
    attempt: record.attempt,
    run: record.run,
    version: record.version,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    startedAt: record.startedAt,
    completedAt: record.completedAt,
  }
}
