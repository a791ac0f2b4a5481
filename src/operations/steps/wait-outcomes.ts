// What a wait for other tasks ends with.
import type { CallRecord } from '../../entities/call.ts'
import { type Outcome, outcomeOf, type TaskRecord } from '../../entities/task.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { WaitParams } from '../../machines/family.ts'

/** The wait ends with the outcomes that there are. */
export function* takeOutcomes(tx: Tx, wait: CallRecord, at: number): Op<Array<Outcome | null>> {
  const outcomes = yield* outcomesOf(tx, wait.params as WaitParams)
  yield* tx.call.save({ ...wait, status: 'completed', result: outcomes, dueAt: null, updatedAt: at })
  yield* tx.dependency.satisfyWaits(wait.id, at)
  return outcomes
}

/** One outcome for each named task, in order; null for a task that has not settled. */
export function* outcomesOf(tx: Reads, params: WaitParams): Op<Array<Outcome | null>> {
  return (yield* awaitedOf(tx, params)).map((each) => (each ? (outcomeOf(each) ?? null) : null))
}

export function* awaitedOf(tx: Reads, params: WaitParams): Op<Array<TaskRecord | undefined>> {
  const found: Array<TaskRecord | undefined> = []
  for (const id of params.tasks) found.push(yield* tx.task.get(id))
  return found
}
