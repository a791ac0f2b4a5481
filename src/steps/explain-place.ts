// A ready task that no engine may start yet: its parent lets only so many of its children run at once, or the ledger only so
// many tasks. Counted as admission counts, so that what `why` says is what holds it.

import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'
import type { Why } from '../views.ts'
import { listOf, nameOf } from './explain-words.ts'
import { loadSharedLimits } from './limits.ts'

/** What keeps a ready task from any free slot; undefined when nothing does. */
export function* explainPlace(tx: Reads, task: TaskRecord): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  return (yield* explainLane(tx, task)) ?? (yield* explainLimit(tx, task.executor as string))
}

function* explainLane(tx: Reads, task: TaskRecord): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  if (task.lane === '') return undefined
  const parent = yield* tx.task.get(task.lane)
  const concurrency = parent?.policy.concurrency
  if (parent === undefined || concurrency === undefined) return undefined
  const open = yield* tx.task.openInLane(task.lane)
  if (open < concurrency) return undefined
  const running = yield* tx.task.list({ parentId: parent.id, statuses: ['working'] }, concurrency)
  const busy = running.filter((each) => each.runOpen)
  const who = busy.length === 0 ? '' : `: ${listOf(busy.map(nameOf))}`
  return {
    reason: 'lane',
    tasks: busy.map((each) => each.id),
    message: `It waits for a place among its siblings: of the children of ${nameOf(parent)} only ${concurrency} may run at once, and ${open} ${open === 1 ? 'does' : 'do'}${who}.`,
  }
}

function* explainLimit(tx: Reads, executor: string): Op<Pick<Why, 'reason' | 'message' | 'tasks'> | undefined> {
  const shared = yield* loadSharedLimits(tx)
  if (shared === undefined) return undefined
  const open = yield* tx.run.countOpen()
  const all = [...open.values()].reduce((sum, runs) => sum + runs, 0)
  const ofExecutor = open.get(executor) ?? 0
  const limit = shared.limits[executor]
  if (shared.maxConcurrent !== null && all >= shared.maxConcurrent) {
    return { reason: 'limit', tasks: [], message: limitWords('', shared.maxConcurrent, all) }
  }
  if (limit !== undefined && ofExecutor >= limit) {
    return { reason: 'limit', tasks: [], message: limitWords(` of the executor ${executor}`, limit, ofExecutor) }
  }
  return undefined
}

function limitWords(of: string, limit: number, open: number): string {
  return `It is ready, but the engines on this ledger together may have only ${limit} open ${limit === 1 ? 'run' : 'runs'}${of}, and ${open} ${open === 1 ? 'is' : 'are'} open. \`setSharedLimits\` raises the limit.`
}
