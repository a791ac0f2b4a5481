// Tasks as people see them: the row, with what is kept beside it.
import type { Question } from '../entities/question.ts'
import { type Task, type TaskRecord, toTask } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import { openQuestions } from './explain.ts'

export function* viewsOf(tx: Reads, records: readonly TaskRecord[]): Op<Task[]> {
  const views: Task[] = []
  for (const record of records) {
    const blockers = record.openBlockers === 0 ? [] : yield* tx.dependency.openBlockers(record.id)
    const questions: Question[] = record.status === 'input_required' ? yield* openQuestions(tx, record.id) : []
    views.push(toTask(record, blockers, questions))
  }
  return views
}
