// The filters of the list: which tasks they match, and their form in the address.

import { parseDuration } from '../../../src/core/duration.ts'
import { parseTime } from '../../../src/core/time-text.ts'
import { taskStatuses } from './lifecycle.ts'
import type { TaskRow, TaskStatus } from './wire.ts'

export type SortBy = 'urgent' | 'newest' | 'age' | 'priority' | 'change'
export type Layout = 'tree' | 'roots' | 'flat'

export const sorts: Readonly<Record<SortBy, string>> = {
  urgent: 'most urgent first',
  newest: 'newest first',
  change: 'latest change first',
  age: 'oldest first',
  priority: 'by priority',
}
export const layouts: Readonly<Record<Layout, string>> = { tree: 'tree', roots: 'only roots', flat: 'flat' }

export interface Choice {
  /** Empty: every state. */
  states: ReadonlySet<TaskStatus>
  /** Name of an executor, or an owner as `@name`; '' for any. */
  executor: string
  tag: string
  /** Code of the error of failed tasks; '' for any. */
  code: string
  /** `KEY=VALUE`; '' for any. */
  metadata: string
  /** Ended, or if open created, since and before: a duration ago (`2h`), or a local time (`2026-12-01T09:30`); '' for any. */
  since: string
  before: string
  /** Only system tasks, instead of the others. */
  system: boolean
  /** Words that the name, id, reason, owner and error together must contain. */
  text: string
  /** Tasks that the server found by these words: it also searches goals and descriptions. */
  found: ReadonlySet<string>
  /** Tasks that the server found by their metadata, which rows do not have. */
  described: ReadonlySet<string>
  sort: SortBy
  layout: Layout
}

export const everything: Choice = {
  states: new Set(),
  executor: '',
  tag: '',
  code: '',
  metadata: '',
  since: '',
  before: '',
  system: false,
  text: '',
  found: new Set(),
  described: new Set(),
  sort: 'urgent',
  layout: 'tree',
}

/** Whether any filter is active. */
export function isFiltering({ states, executor, tag, code, metadata, since, before, system, text }: Choice): boolean {
  const isGiven = metadataIn(metadata) !== null || timeIn(since, 0) !== null || timeIn(before, 0) !== null || system
  return states.size > 0 || executor !== '' || tag !== '' || code !== '' || isGiven || text.trim() !== ''
}

/** @param now Epoch milliseconds. */
export function matcher(choice: Choice, now: number): (row: TaskRow) => boolean {
  const { states, executor, tag, code, text, found, described } = choice
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const hasMetadata = metadataIn(choice.metadata) !== null
  const since = timeIn(choice.since, now) ?? Number.NEGATIVE_INFINITY
  const before = timeIn(choice.before, now) ?? Number.POSITIVE_INFINITY
  const isWithin = (at: number) => at >= since && at < before
  return (row) =>
    (states.size === 0 || states.has(row.status)) &&
    (executor === '' || row.executor === executor || (row.owner !== null && executor === `@${row.owner}`)) &&
    (tag === '' || row.tags.includes(tag)) &&
    (code === '' || (row.status === 'failed' && row.error?.code === code)) &&
    isWithin(row.completedAt ?? row.createdAt) &&
    (!hasMetadata || described.has(row.id)) &&
    (words.length === 0 || containsAll(row, words) || found.has(row.id))
}

function containsAll(row: TaskRow, words: readonly string[]): boolean {
  const text = `${row.name}\n${row.id}\n#${row.seq}\n${row.statusReason ?? ''}\n${row.owner ?? ''}\n${row.error?.message ?? ''}`
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

/** The field of the metadata; null for an unfinished text. A value is JSON, other than a list or an object, else text. */
export function metadataIn(text: string): Record<string, unknown> | null {
  const at = text.indexOf('=')
  if (at < 1) return null
  const value = text.slice(at + 1)
  try {
    const parsed: unknown = JSON.parse(value)
    return { [text.slice(0, at)]: typeof parsed === 'object' && parsed !== null ? value : parsed }
  } catch {
    return { [text.slice(0, at)]: value }
  }
}

/** Epoch milliseconds of a duration ago, or of a local time; null for neither. */
export function timeIn(text: string, now: number): number | null {
  const ago = parseDuration(text)
  return ago === undefined ? (parseTime(text) ?? null) : now - ago
}

const texts = ['text', 'executor', 'tag', 'code', 'metadata', 'since', 'before'] as const

/** The query of the address; '' for all tasks in the usual order. */
export function queryOf(choice: Choice): string {
  const query = new URLSearchParams()
  if (choice.states.size > 0) query.set('status', [...choice.states].join(','))
  for (const name of texts) if (choice[name] !== '') query.set(name, choice[name])
  if (choice.system) query.set('system', 'true')
  if (choice.sort !== everything.sort) query.set('sort', choice.sort)
  if (choice.layout !== everything.layout) query.set('show', choice.layout)
  return query.toString()
}

/** What is not known in the address is left out. */
export function choiceIn(query: string): Choice {
  const given = new URLSearchParams(query)
  const named = (given.get('status') ?? '').split(',')
  const [sort, layout] = [given.get('sort') ?? '', given.get('show') ?? '']
  return {
    ...everything,
    ...Object.fromEntries(texts.map((name) => [name, given.get(name) ?? ''])),
    states: new Set(taskStatuses.filter((status) => named.includes(status))),
    system: given.get('system') === 'true',
    sort: Object.hasOwn(sorts, sort) ? (sort as SortBy) : everything.sort,
    layout: Object.hasOwn(layouts, layout) ? (layout as Layout) : everything.layout,
  }
}

/** All values of the filters, from the existing tasks. */
export function choicesOf(rows: Iterable<TaskRow>): { executors: string[]; tags: string[]; codes: string[] } {
  const executors = new Set<string>()
  const tags = new Set<string>()
  const codes = new Set<string>()
  for (const row of rows) {
    if (row.executor !== null) executors.add(row.executor)
    if (row.owner !== null) executors.add(`@${row.owner}`)
    if (row.status === 'failed' && row.error !== null) codes.add(row.error.code)
    for (const tag of row.tags) tags.add(tag)
  }
  return { executors: [...executors].sort(), tags: [...tags].sort(), codes: [...codes].sort() }
}
