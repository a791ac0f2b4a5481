// Spawns children together with the journal entry that finds them again, in one transaction.

import type { CallRecord } from '../../entities/call.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { type CreateRequest, create } from './create.ts'
import { loadLive, publishDivergence } from './journal.ts'
import { retry } from './retry.ts'

/** Tasks of an earlier attempt, by the index of their tree; undefined where none is kept. */
type Kept = Array<TaskRecord | undefined>

/**
 * Creates the trees below the running task and records their roots as the result of the entry. `earlier`: the roots that an earlier attempt
 * created of the same trees. They stay, but a failed one gets a new attempt too, and a canceled one is created again. `left`: completed
 * entries that the run has not requested again.
 */
export function spawn(
  entry: NewCall,
  request: CreateRequest,
  earlier: readonly string[] = [],
  left: readonly CallRecord[] = [],
): Step<TaskRecord[]> {
  return step('spawn', function* (tx) {
    yield* loadLive(tx, entry)
    const kept = yield* loadKept(tx, request, earlier)
    for (const task of kept) if (task?.status === 'failed') yield* retry(task.id, request).decide(tx)
    const missing = request.trees.filter((_tree, index) => kept[index] === undefined)
    const made = yield* create({ ...request, trees: missing }).decide(tx)
    const roots = yield* inOrder(tx, kept, made)
    yield* tx.call.insert({ ...entry, status: 'completed', result: roots.map((root) => root.id) })
    if (left.length > 0) {
      const parent = (yield* tx.task.get(entry.taskId)) as TaskRecord
      yield* publishDivergence(tx, parent, entry, left, request)
    }
    return roots
  })
}

function* loadKept(tx: Reads, request: CreateRequest, earlier: readonly string[]): Op<Kept> {
  const kept: Kept = []
  for (const [index] of request.trees.entries()) {
    const task = earlier[index] === undefined ? undefined : yield* tx.task.get(earlier[index])
    // The children of its original are not a fork's to retry.
    const isForeign = task?.status === 'failed' && task.parentId !== request.trees[index]?.[0]?.parentId
    kept.push(
      task === undefined || task.deletedAt !== null || task.status === 'canceled' || isForeign ? undefined : task,
    )
  }
  return kept
}

/** Returns the current roots, in the order of their trees. */
function* inOrder(tx: Tx, kept: Kept, made: readonly TaskRecord[]): Op<TaskRecord[]> {
  const roots: TaskRecord[] = []
  let next = 0
  for (const task of kept) {
    roots.push((task === undefined ? made[next++] : yield* tx.task.get(task.id)) as TaskRecord)
  }
  return roots
}
