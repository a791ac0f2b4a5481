// All tasks, now or in the past, and the list that is shown of them: filtered, searched and folded.

import { signal } from '@preact/signals'
import { EngineLink } from '../live/engine-link.ts'
import type { Connection } from '../live/event-source.ts'
import type { Past } from '../live/past.ts'
import { type Attention, attentionOf } from '../model/attention.ts'
import { type Choice, choicesOf, everything } from '../model/filters.ts'
import { taskStatuses } from '../model/lifecycle.ts'
import type { TaskStore } from '../model/task-store.ts'
import { atMostEvery, sparingly } from '../model/throttle.ts'
import { type FlatTree, flattenTree } from '../model/tree.ts'
import type { Problem, TaskStatus } from '../model/wire.ts'
import { api, clock } from './api.ts'
import { dismiss, dismissed } from './dismissed.ts'
import { onTaskEvent } from './navigation.ts'

export const connection = signal<Connection>('connecting')
/** Whether the feed has been connected once. */
export const wasConnected = signal(false)
/** Whether the rows have been read once. */
export const loaded = signal(false)
/** Number of tasks beyond the limit of the page. */
export const leftOut = signal(0)
/** Why the server refuses the feed; null if it does not. */
export const refusal = signal<Problem | null>(null)
/** All tasks at the shown position of the feed; null for now. */
export const past = signal<Past | null>(null)
export const choice = signal<Choice>(everything)
/** Incremented at most ten times a second when rows have changed. */
const tick = signal(0)

export interface Listing extends FlatTree {
  counts: Record<TaskStatus, number>
  executors: string[]
  tags: string[]
  codes: string[]
  attention: Attention
}

const nothing: Listing = {
  lines: [],
  matched: 0,
  matching: [],
  total: 0,
  counts: countsOf([]),
  executors: [],
  tags: [],
  codes: [],
  attention: attentionOf({ rows: new Map(), children: new Map() }, new Set()),
}
export const listing = signal<Listing>(nothing)

/** Subscribes the calling component to changes of rows. */
export function followRows(): void {
  void tick.value
}

/** Painting more often would not be noticed. Scrolling and typing do not wait for it. */
const repaint = atMostEvery(clock, 100, () => {
  tick.value++
})

/** Rebuilding the list costs more than painting it, and grows with the number of tasks. */
const relist = sparingly(clock, { restMs: 150, share: 0.04 }, updateListing)

export const link = new EngineLink(api, clock, {
  changed: () => {
    repaint()
    relist()
  },
  connection: (now) => {
    connection.value = now
    if (now === 'open') wasConnected.value = true
  },
  inSight: () => inSight,
  event: onTaskEvent,
  loaded: (left) => {
    loaded.value = true
    leftOut.value = left
    refusal.value = null
  },
  refused: (problem) => {
    refusal.value = problem
  },
})

let inSight: readonly string[] = []

/** Sets the visible lines, whose rows are read first. */
export function showLines(ids: readonly string[]): void {
  inSight = ids
}

export function storeShown(): TaskStore {
  return past.value?.store ?? link.store
}

/** Rebuilds the list at once. */
export function updateListing(): void {
  const store = storeShown()
  const choices = choicesOf(store.rows.values())
  const attention = attentionOf(store, dismissed.peek())
  listing.value = {
    ...flattenTree(store, choice.peek(), isOpen, attention),
    counts: countsOf(store.rows.values()),
    ...choices,
    attention,
  }
}

/** Takes failures (from `failureOf`) off the list of what needs a person. */
export function dismissFailures(failures: readonly string[]): void {
  dismiss(failures)
  updateListing()
}

function countsOf(rows: Iterable<{ status: TaskStatus }>): Record<TaskStatus, number> {
  const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>
  for (const { status } of rows) counts[status]++
  return counts
}

let unfolded = true
let toggled = new Set<string>()

function isOpen(id: string): boolean {
  return toggled.has(id) !== unfolded
}

export function toggleFold(id: string): void {
  if (!toggled.delete(id)) toggled.add(id)
  updateListing()
}

/** Folds or unfolds all tasks, overriding manual folds. */
export function foldAll(fold: boolean): void {
  unfolded = !fold
  toggled = new Set()
  updateListing()
}
