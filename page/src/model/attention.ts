// What needs a person: open questions, and unhandled failures. From it follow the order of the list and the counts of families.

import { isQueued, isSettled } from './lifecycle.ts'
import type { EngineStatus, TaskRow } from './wire.ts'

interface Forest {
  rows: ReadonlyMap<string, TaskRow>
  children: ReadonlyMap<string, ReadonlySet<string>>
}

/** How urgent a task is: the lower, the sooner a person must look at it. */
const rank = { asking: 0, failed: 1, working: 2, open: 3, settled: 4 } as const

/** A task with all tasks below it. */
interface Family {
  /** Rank of the most urgent one below. */
  rank: number
  /** Failed tasks below, handled or not. */
  failed: number
  /** Tasks below that ask a question. */
  asking: number
}

export interface Attention {
  /** Tasks that ask a question, longest waiting first. */
  questions: TaskRow[]
  /** Unhandled failures, latest first. */
  failures: TaskRow[]
  /** Families by the id of the task at their top. */
  families: ReadonlyMap<string, Family>
  /** Rank of a task alone. */
  rankOf(row: TaskRow): number
}

/** Identifies the failure of one attempt, which may be dismissed; a later failure of the task is another one. */
export function failureOf({ id, attempt, run }: TaskRow): string {
  // Attempts count from 1 in each generation, and runs go on.
  return `${id} ${attempt} ${run}`
}

/** @param dismissed failures that a person has dismissed, from `failureOf`. */
export function attentionOf(forest: Forest, dismissed: ReadonlySet<string>): Attention {
  const isHandled = handlingIn(forest)
  const rankOf = (row: TaskRow): number => {
    if (isAsking(row)) return rank.asking
    if (row.status === 'failed') {
      return dismissed.has(failureOf(row)) || isHandled(row.parentId) ? rank.settled : rank.failed
    }
    if (isSettled(row.status)) return rank.settled
    return row.status === 'working' ? rank.working : rank.open
  }
  const families = familiesOf(forest, rankOf)
  const questions: TaskRow[] = []
  const failures: TaskRow[] = []
  for (const row of forest.rows.values()) {
    if (isAsking(row)) questions.push(row)
    // A group fails because of a task below it, which is listed.
    else if (row.status === 'failed' && !(row.group && families.get(row.id)?.failed) && rankOf(row) === rank.failed) {
      failures.push(row)
    }
  }
  return {
    questions: questions.sort((a, b) => a.updatedAt - b.updatedAt || a.seq - b.seq),
    failures: failures.sort((a, b) => b.updatedAt - a.updatedAt || b.seq - a.seq),
    families,
    rankOf,
  }
}

function isAsking(row: TaskRow): boolean {
  // An answered question leaves its task queued until a slot is free.
  return row.status === 'input_required' && !isQueued(row)
}

/**
 * Whether a task above handles the failure of its child: its executor learns of it and decides what follows, and a task that is
 * completed or canceled needs no person any more.
 */
function handlingIn({ rows }: Forest): (parentId: string | null) => boolean {
  const known = new Map<string, boolean>()
  return (parentId) => {
    const path: string[] = []
    let handles: boolean | undefined
    for (let id = parentId; handles === undefined; ) {
      const row = id === null ? undefined : rows.get(id)
      if (id === null || row === undefined) handles = false
      else if (row.executor !== null || row.status === 'completed' || row.status === 'canceled') handles = true
      else {
        handles = known.get(id)
        path.push(id)
        id = row.parentId
      }
    }
    for (const id of path) known.set(id, handles)
    return handles
  }
}

function familiesOf({ rows, children }: Forest, rankOf: (row: TaskRow) => number): Map<string, Family> {
  const families = new Map<string, Family>()
  const parents: TaskRow[] = []
  for (const [id, ids] of children) {
    const row = rows.get(id)
    if (row !== undefined && ids.size > 0) parents.push(row)
  }
  // A task is created after its parent, so this order comes to inner families first.
  for (const parent of parents.sort((a, b) => b.seq - a.seq)) {
    const family: Family = { rank: rank.settled, failed: 0, asking: 0 }
    for (const id of children.get(parent.id) ?? []) {
      const row = rows.get(id)
      if (row === undefined) continue
      const below = families.get(id)
      family.rank = Math.min(family.rank, rankOf(row), below?.rank ?? rank.settled)
      family.failed += (below?.failed ?? 0) + (row.status === 'failed' ? 1 : 0)
      family.asking += (below?.asking ?? 0) + (isAsking(row) ? 1 : 0)
    }
    families.set(parent.id, family)
  }
  return families
}

/** After this time without a slot a task is not only about to be started by another engine of the ledger. */
const unclaimedMs = 5_000

/**
 * Queued tasks by an executor that this engine cannot run, and that no other engine runs either as far as is known. An engine that does not
 * work at all knows nothing about it.
 */
export function missingExecutors(
  rows: Iterable<TaskRow>,
  status: Pick<EngineStatus, 'executors' | 'working'>,
  now: number,
): Array<{ executor: string; queued: number }> {
  if (!status.working) return []
  const known = new Set(status.executors)
  const queued = new Map<string, number>()
  for (const row of rows) {
    if (row.executor === null || known.has(row.executor)) continue
    if (row.status === 'working') known.add(row.executor)
    else if (isQueued(row) && now - row.updatedAt > unclaimedMs) {
      queued.set(row.executor, (queued.get(row.executor) ?? 0) + 1)
    }
  }
  return [...queued]
    .filter(([executor]) => !known.has(executor))
    .map(([executor, count]) => ({ executor, queued: count }))
    .sort((a, b) => b.queued - a.queued || (a.executor < b.executor ? -1 : 1))
}
