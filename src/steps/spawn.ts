// Spawning: children and the journal entry that finds them again, in one transaction.
import type { TaskRecord } from '../entities/task.ts'
import type { NewCall, Op, Step } from '../ledger/ledger.ts'
import { type CreateRequest, create } from './create.ts'
import { loadLive } from './journal.ts'

/** Creates the trees below the running task and records their roots as the entry's result. */
export function spawn(entry: NewCall, request: CreateRequest): Step<unknown, unknown, TaskRecord[]> {
  const creation = create(request)
  return {
    name: 'spawn',
    *load(tx) {
      yield* loadLive(tx, entry)
      return yield* creation.load(tx)
    },
    judge: (loaded) => creation.judge(loaded as never),
    *write(tx, decision): Op<TaskRecord[]> {
      const roots = yield* creation.write(tx, decision as never)
      yield* tx.call.insert({ ...entry, status: 'completed', result: roots.map((root) => root.id) })
      return roots
    },
  }
}
