// The tasks below a task: its children in the order of a table, the whole family in the order of a tree, and how many are in which state.

import { type StateWord, wordOf } from './lifecycle.ts'
import type { Forest } from './tree.ts'
import type { RunRecord, TaskRow, TaskStatus } from './wire.ts'

/** Larger families are counted up to here. */
export const maxCounted = 10_000

export interface FamilyLine {
  row: TaskRow
  /** 0 for the task itself. */
  level: number
}

export interface Family {
  /** The first tasks in the order of the tree; the task itself is the first. */
  lines: FamilyLine[]
  /** Number of tasks below the task, at most `maxCounted`. */
  total: number
  /** How many tasks below it are in which state. */
  counts: ReadonlyMap<StateWord, number>
  /** Number of failed tasks below each child, without the child itself. */
  failedBelow: ReadonlyMap<string, number>
}

/** What people look for first, when not all children fit. */
const urgency: Readonly<Partial<Record<TaskStatus, number>>> = { input_required: 0, failed: 1, working: 2 }
const urgencyOf = ({ status }: TaskRow) => urgency[status] ?? 3

/** The children in the order of their creation. If there are more than `max`, those that ask, failed or work come first. */
export function childrenOf(forest: Forest, id: string, max: number): TaskRow[] {
  return ordered(forest, id, (forest.children.get(id)?.size ?? 0) > max)
}

function ordered(forest: Forest, id: string, urgentFirst: boolean): TaskRow[] {
  const rows = [...(forest.children.get(id) ?? [])].flatMap((each) => forest.rows.get(each) ?? [])
  return rows.sort((a, b) => (urgentFirst ? urgencyOf(a) - urgencyOf(b) : 0) || a.seq - b.seq)
}

function hasMoreBelow(forest: Forest, id: string, max: number): boolean {
  let count = 0
  const open = [id]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const below of forest.children.get(next) ?? []) {
      if (++count > max) return true
      open.push(below)
    }
  }
  return false
}

interface Visit {
  row: TaskRow
  level: number
  /** The child of the task above or at this row. */
  child: string
}

/** @param maxLines number of tasks in `lines`. In a larger family, the tasks that ask, failed or work come first among their siblings. */
export function familyOf(forest: Forest, own: TaskRow, maxLines: number): Family {
  const lines: FamilyLine[] = []
  const counts = new Map<StateWord, number>()
  const failedBelow = new Map<string, number>()
  const urgentFirst = hasMoreBelow(forest, own.id, maxLines - 1)
  let total = -1
  // Iterative, because families may be deep.
  const open: Visit[] = [{ row: own, level: 0, child: own.id }]
  for (let next = open.pop(); next !== undefined && total < maxCounted; next = open.pop()) {
    const { row, level, child } = next
    total++
    if (lines.length < maxLines) lines.push({ row, level })
    if (level > 0) counts.set(wordOf(row), (counts.get(wordOf(row)) ?? 0) + 1)
    if (level > 1 && row.status === 'failed') failedBelow.set(child, (failedBelow.get(child) ?? 0) + 1)
    for (const below of ordered(forest, row.id, urgentFirst).reverse()) {
      open.push({ row: below, level: level + 1, child: level === 0 ? below.id : child })
    }
  }
  return { lines, total, counts, failedBelow }
}

/** A task on a time axis: from its creation to its end, with the periods in which it worked. Times are epoch milliseconds. */
export interface Span {
  from: number
  /** Null while it is open. */
  to: number | null
  work: Array<{ number: number; outcome: string; from: number; to: number | null }>
}

/** @param until the shown time of the past; null for now. */
export function spanOf(row: TaskRow, runs: readonly RunRecord[], until: number | null): Span {
  const known = (at: number | null) => (at !== null && (until === null || at <= until) ? at : null)
  return {
    from: row.createdAt,
    to: known(row.completedAt),
    work: runs
      .filter(({ startedAt }) => known(startedAt) !== null)
      .map(({ number, outcome, startedAt, endedAt }) => ({
        number,
        outcome: known(endedAt) === null ? 'live' : (outcome ?? 'live'),
        from: startedAt,
        to: known(endedAt),
      })),
  }
}

/**
 * How long a task has worked: the sum of its runs; for a group, and for one that is worked on from outside, the time since its creation.
 * Null before it begins, and while its runs are not known.
 */
export function workedMs({ status, run }: TaskRow, { from, to, work }: Span, now: number): number | null {
  if (work.length > 0) return work.reduce((sum, each) => sum + (each.to ?? now) - each.from, 0)
  return status === 'submitted' || run > 0 ? null : (to ?? now) - from
}
