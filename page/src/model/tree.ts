// Converts the tasks to the visible lines of the tree: filtered, searched, sorted and folded.

import { type Attention, attentionOf } from './attention.ts'
import { type Choice, isFiltering, matcher, type SortBy } from './filters.ts'
import type { TaskRow } from './wire.ts'

/** One line. `level` counts from 1, as for screen readers. */
export interface FlatRow {
  row: TaskRow
  level: number
  position: number
  setSize: number
  hasChildren: boolean
  expanded: boolean
  /** Failed tasks below it, and tasks below it that ask a question. */
  failed: number
  asking: number
  /** False for a task that is only shown because a task below it matches. */
  matches: boolean
}

export interface Forest {
  rows: ReadonlyMap<string, TaskRow>
  children: ReadonlyMap<string, ReadonlySet<string>>
}

export interface FlatTree {
  lines: FlatRow[]
  /** Number of tasks that match the filters, including folded ones. */
  matched: number
  /** The tasks that match, including folded ones; none without a filter. */
  matching: TaskRow[]
  total: number
}

/** The lines in display order. Parents of matching tasks are kept, to show where these belong. */
export function flattenTree(
  forest: Forest,
  choice: Choice,
  isOpen: (id: string) => boolean,
  attention: Attention = attentionOf(forest, new Set()),
  now = Date.now(),
): FlatTree {
  const total = forest.rows.size
  const matches = isFiltering(choice) ? matcher(choice, now) : null
  if (choice.layout === 'tree') {
    const matching = matches === null ? none : [...forest.rows.values()].filter(matches)
    const matched = matches === null ? null : new Set(matching.map(({ id }) => id))
    const lines = treeLines(forest, choice, isOpen, matched, attention)
    return { lines, matched: matched === null ? total : matched.size, matching, total }
  }
  const listed: TaskRow[] = []
  for (const row of forest.rows.values()) {
    if ((matches === null || matches(row)) && (choice.layout === 'flat' || isRoot(forest, row))) listed.push(row)
  }
  const order = choice.sort === 'urgent' ? urgency(attention, choice.layout === 'roots') : orderOf(choice.sort)
  const lines = listLines(listed.sort(order), forest, attention)
  return { lines, matched: listed.length, matching: matches === null ? none : listed, total }
}

function listLines(rows: TaskRow[], forest: Forest, attention: Attention): FlatRow[] {
  return rows.map((row, index) => ({
    row,
    level: 1,
    position: index + 1,
    setSize: rows.length,
    hasChildren: (forest.children.get(row.id)?.size ?? 0) > 0,
    expanded: false,
    ...countsBelow(row, attention),
    matches: true,
  }))
}

function countsBelow({ id }: TaskRow, { families }: Attention): Pick<FlatRow, 'failed' | 'asking'> {
  const { failed = 0, asking = 0 } = families.get(id) ?? {}
  return { failed, asking }
}

/** @param matched null for all. */
function treeLines(
  forest: Forest,
  choice: Choice,
  isOpen: (id: string) => boolean,
  matched: ReadonlySet<string> | null,
  attention: Attention,
): FlatRow[] {
  const shown = matched === null ? null : withAncestors(forest, matched)
  const [order, orderBelow] = ordersOf(forest, choice.sort, attention)
  // Matches of a search are not hidden by folds.
  const unfold = choice.text.trim() !== ''
  const kept = (rows: TaskRow[]) => (shown === null ? rows : rows.filter(({ id }) => shown.has(id)))
  const lines: FlatRow[] = []
  // Iterative, because families may be deep.
  const open: Array<{ siblings: TaskRow[]; next: number; level: number }> = []
  open.push({ siblings: kept(rootsOf(forest)).sort(order), next: 0, level: 1 })
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const row = top.siblings[top.next]
    if (row === undefined) {
      open.pop()
      continue
    }
    top.next++
    const ids = forest.children.get(row.id)
    const below = ids === undefined || ids.size === 0 ? none : kept(rowsOf(forest, ids))
    const expanded = below.length > 0 && (unfold || isOpen(row.id))
    lines.push({
      row,
      level: top.level,
      position: top.next,
      setSize: top.siblings.length,
      hasChildren: below.length > 0,
      expanded,
      ...countsBelow(row, attention),
      matches: matched === null || matched.has(row.id),
    })
    if (expanded) open.push({ siblings: below.sort(orderBelow), next: 0, level: top.level + 1 })
  }
  return lines
}

const none: TaskRow[] = []

type Order = (a: TaskRow, b: TaskRow) => number

/** The order of roots, and that of the tasks below them. The parts of a plan are read in order, so the newest is not the first of them. */
function ordersOf(forest: Forest, sort: SortBy, attention: Attention): [Order, Order] {
  if (sort === 'urgent') return [urgency(attention, true), urgency(attention, true, orderOf('age'))]
  const order = sort === 'change' ? familyChanges(forest) : orderOf(sort)
  return [order, sort === 'newest' ? orderOf('age') : order]
}

/** What needs a person comes first, then what runs, then other open tasks, then settled ones. */
function urgency({ families, rankOf }: Attention, withFamily: boolean, among: Order = orderOf('newest')): Order {
  const ranks = new Map<string, number>()
  const rankIn = (row: TaskRow): number => {
    const known = ranks.get(row.id)
    if (known !== undefined) return known
    const own = rankOf(row)
    const rank = withFamily ? Math.min(own, families.get(row.id)?.rank ?? own) : own
    ranks.set(row.id, rank)
    return rank
  }
  return (a, b) => rankIn(a) - rankIn(b) || among(a, b)
}

/** Sorts families by the latest change of any task in them. */
function familyChanges(forest: Forest): (a: TaskRow, b: TaskRow) => number {
  const latest = new Map<string, number>()
  for (const { id, updatedAt } of forest.rows.values()) {
    for (let at: string | undefined = id; at !== undefined; at = parentOf(forest, at)) {
      if ((latest.get(at) ?? Number.NEGATIVE_INFINITY) >= updatedAt) break
      latest.set(at, updatedAt)
    }
  }
  return (a, b) => (latest.get(b.id) ?? 0) - (latest.get(a.id) ?? 0) || b.seq - a.seq
}

function rowsOf(forest: Forest, ids: Iterable<string>): TaskRow[] {
  const rows: TaskRow[] = []
  for (const id of ids) {
    const row = forest.rows.get(id)
    if (row !== undefined) rows.push(row)
  }
  return rows
}

/** A task with an unknown parent is shown as a root. */
function isRoot(forest: Forest, row: TaskRow): boolean {
  return row.parentId === null || !forest.rows.has(row.parentId)
}

function rootsOf(forest: Forest): TaskRow[] {
  const roots = rowsOf(forest, forest.children.get('') ?? [])
  for (const [parentId, ids] of forest.children) {
    if (parentId !== '' && !forest.rows.has(parentId)) roots.push(...rowsOf(forest, ids))
  }
  return roots
}

function withAncestors(forest: Forest, matched: ReadonlySet<string>): Set<string> {
  const shown = new Set(matched)
  for (const id of matched) {
    for (
      let parent = parentOf(forest, id);
      parent !== undefined && !shown.has(parent);
      parent = parentOf(forest, parent)
    ) {
      shown.add(parent)
    }
  }
  return shown
}

function parentOf({ rows }: Forest, id: string): string | undefined {
  const parentId = rows.get(id)?.parentId ?? null
  return parentId !== null && rows.has(parentId) ? parentId : undefined
}

function orderOf(sort: SortBy): (a: TaskRow, b: TaskRow) => number {
  const byAge = (a: TaskRow, b: TaskRow) => a.seq - b.seq
  if (sort === 'age') return byAge
  if (sort === 'newest') return (a, b) => b.seq - a.seq
  if (sort === 'priority') return (a, b) => b.priority - a.priority || byAge(a, b)
  return (a, b) => b.updatedAt - a.updatedAt || b.seq - a.seq
}

/** The lines visible in a window of this height, plus a few on both sides. `to` is exclusive. */
export function visibleLines(
  count: number,
  { scrollTop, height, lineHeight }: { scrollTop: number; height: number; lineHeight: number },
  more = 6,
): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(scrollTop / lineHeight)) - more)
  return { from, to: Math.min(count, Math.ceil((scrollTop + height) / lineHeight) + more) }
}
