// Converts the tasks to the visible lines of the tree: filtered, searched, sorted and folded.

import { type Attention, attentionOf } from './attention.ts'
import type { TaskRow, TaskStatus } from './wire.ts'

export type SortBy = 'urgent' | 'newest' | 'age' | 'priority' | 'change'
export type Layout = 'tree' | 'roots' | 'flat'

export interface Choice {
  /** Empty: every state. */
  states: ReadonlySet<TaskStatus>
  /** Name of an executor, or an owner as `@name`; '' for any. */
  executor: string
  tag: string
  /** Words that the name, id, reason, owner and error together must contain. */
  text: string
  /** Tasks that the server found by these words: it also searches goals and descriptions. */
  found: ReadonlySet<string>
  sort: SortBy
  layout: Layout
}

export const everything: Choice = {
  states: new Set(),
  executor: '',
  tag: '',
  text: '',
  found: new Set(),
  sort: 'urgent',
  layout: 'tree',
}

/** Whether any filter is active. */
export function isFiltering({ states, executor, tag, text }: Choice): boolean {
  return states.size > 0 || executor !== '' || tag !== '' || text.trim() !== ''
}

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
  total: number
}

/** The lines in display order. Parents of matching tasks are kept, to show where these belong. */
export function flattenTree(
  forest: Forest,
  choice: Choice,
  isOpen: (id: string) => boolean,
  attention: Attention = attentionOf(forest, new Set()),
): FlatTree {
  const total = forest.rows.size
  const matches = isFiltering(choice) ? matcher(choice) : null
  if (choice.layout === 'tree') {
    const matched = matches === null ? null : idsWhere(forest.rows.values(), matches)
    const lines = treeLines(forest, choice, isOpen, matched, attention)
    return { lines, matched: matched === null ? total : matched.size, total }
  }
  const listed: TaskRow[] = []
  for (const row of forest.rows.values()) {
    if ((matches === null || matches(row)) && (choice.layout === 'flat' || isRoot(forest, row))) listed.push(row)
  }
  const order = choice.sort === 'urgent' ? urgency(attention, choice.layout === 'roots') : orderOf(choice.sort)
  return { lines: listLines(listed.sort(order), forest, attention), matched: listed.length, total }
}

function idsWhere(rows: Iterable<TaskRow>, matches: (row: TaskRow) => boolean): Set<string> {
  const ids = new Set<string>()
  for (const row of rows) if (matches(row)) ids.add(row.id)
  return ids
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

function matcher({ states, executor, tag, text, found }: Choice): (row: TaskRow) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return (row) =>
    (states.size === 0 || states.has(row.status)) &&
    (executor === '' || row.executor === executor || (row.owner !== null && executor === `@${row.owner}`)) &&
    (tag === '' || row.tags.includes(tag)) &&
    (words.length === 0 || containsAll(row, words) || found.has(row.id))
}

function containsAll(row: TaskRow, words: readonly string[]): boolean {
  const text = `${row.name}\n${row.id}\n#${row.seq}\n${row.statusReason ?? ''}\n${row.owner ?? ''}\n${row.error?.message ?? ''}`
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
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

/** All values of the filters, from the existing tasks. */
export function choicesOf(rows: Iterable<TaskRow>): { executors: string[]; tags: string[] } {
  const executors = new Set<string>()
  const tags = new Set<string>()
  for (const row of rows) {
    if (row.executor !== null) executors.add(row.executor)
    if (row.owner !== null) executors.add(`@${row.owner}`)
    for (const tag of row.tags) tags.add(tag)
  }
  return { executors: [...executors].sort(), tags: [...tags].sort() }
}
