// The state of the page as signals, and their wiring: address, tasks, filters, past, theme.

import { effect, signal } from '@preact/signals'
import { ApiClient, problemOf } from './live/api-client.ts'
import { EngineLink } from './live/engine-link.ts'
import type { Connection, SourceBeat } from './live/event-source.ts'
import { type Past, readPast } from './live/past.ts'
import { TaskSession } from './live/task-session.ts'
import { textIn } from './model/event-data.ts'
import { atMostEvery, type Beat, sparingly } from './model/frames.ts'
import { stateLooks, taskStatuses } from './model/lifecycle.ts'
import { linkTo, type Route, routeOf } from './model/route.ts'
import type { TaskStore } from './model/task-store.ts'
import { type Choice, choicesOf, everything, type FlatTree, flattenTree } from './model/tree.ts'
import type { EngineStatus, Problem, TaskEvent, TaskRowsPage, TaskStatus } from './model/wire.ts'

const tokenKey = 'errand.token'
const themeKey = 'errand.theme'
const signedOutKey = 'errand.signed-out'

// --- Visible state ------------------------------------------------------------------------------------------------------

/** A tab that is opened with the same link is also signed in by it. */
const linked = new URLSearchParams(location.hash.slice(1)).get('token')
if (linked !== null) {
  sessionStorage.setItem(tokenKey, linked)
  history.replaceState(null, '', location.pathname)
}

export const route = signal<Route>(routeOf(location.hash))
export const connection = signal<Connection>('connecting')
/** Whether the rows have been read once. */
export const loaded = signal(false)
/** Number of tasks beyond the limit of the page. */
export const leftOut = signal(0)
export const refusal = signal<Problem | null>(null)
export const engineStatus = signal<EngineStatus | null>(null)
/** Incremented at most ten times a second when rows have changed. */
export const tick = signal(0)
export const choice = signal<Choice>(everything)
export const past = signal<Past | null>(null)
/** The requested position of the past, while it is being read. */
export const wanted = signal<number | null>(null)
export const pastProblem = signal<Problem | null>(null)
export const session = signal<TaskSession | null>(null)
/** The text announced to screen readers. */
export const announcement = signal('')
/** The line of the list with keyboard focus. */
export const activeId = signal<string | null>(null)
export const slotsUsed = signal<Array<{ at: number; used: number; most: number }>>([])

export interface Listing extends FlatTree {
  counts: Record<TaskStatus, number>
  executors: string[]
  tags: string[]
}

const nothing: Listing = { lines: [], matched: 0, total: 0, counts: countsOf([]), executors: [], tags: [] }
export const listing = signal<Listing>(nothing)

export type Theme = 'auto' | 'light' | 'dark'
export const theme = signal<Theme>((localStorage.getItem(themeKey) as Theme | null) ?? 'auto')
effect(() => {
  localStorage.setItem(themeKey, theme.value)
  if (theme.value === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
})

/** Subscribes the calling component to changes of rows. */
export function followRows(): void {
  void tick.value
}

// --- Sources ------------------------------------------------------------------------------------------------------------

export const beat: Beat & SourceBeat = {
  now: () => performance.now(),
  // A page in the background gets no frames, but must be current when it is shown again.
  frame: (callback) => {
    if (document.hidden) setTimeout(callback, 50)
    else requestAnimationFrame(() => callback())
  },
  later: (callback, ms) => setTimeout(callback, ms),
  forget: (timer) => clearTimeout(timer as number),
  chance: () => Math.random(),
}

export const api = new ApiClient({
  base: new URL('.', document.baseURI).href,
  fetch: (...request) => fetch(...request),
  token: () => sessionStorage.getItem(tokenKey),
  signedOut,
})

/** Reloads once to show the server's sign-in page; reloading again would not help. */
async function signOutOnce(): Promise<void> {
  const before = Number(sessionStorage.getItem(signedOutKey) ?? 0)
  if (Date.now() - before < 5_000) return
  sessionStorage.setItem(signedOutKey, String(Date.now()))
  sessionStorage.removeItem(tokenKey)
  await fetch(new URL('session', api.base), { method: 'DELETE' }).catch(() => undefined)
  location.reload()
}

function signedOut(): void {
  void signOutOnce()
}

export const link = new EngineLink(api, beat, {
  changed: () => {
    repaint()
    relist()
  },
  connection: (now) => {
    connection.value = now
  },
  inSight: () => inSight,
  event: onEvent,
  loaded: (left) => {
    loaded.value = true
    leftOut.value = left
    refusal.value = null
  },
  refused: (problem) => {
    refusal.value = problem
  },
})

/** Painting more often would not be noticed. Scrolling and typing do not wait for it. */
const repaint = atMostEvery(beat, 100, () => {
  tick.value++
})

/** Rebuilding the list costs more than painting it, and grows with the number of tasks. */
const relist = sparingly(beat, { restMs: 150, share: 0.04 }, () => {
  listing.value = listed()
})

let inSight: readonly string[] = []

/** Sets the visible lines, whose rows are read first. */
export function showLines(ids: readonly string[]): void {
  inSight = ids
}

export function storeShown(): TaskStore {
  return past.value?.store ?? link.store
}

let unfolded = true
let toggled = new Set<string>()

export function isOpen(id: string): boolean {
  return toggled.has(id) !== unfolded
}

export function toggleFold(id: string): void {
  if (!toggled.delete(id)) toggled.add(id)
  listing.value = listed()
}

/** Folds or unfolds all tasks, overriding manual folds. */
export function foldAll(fold: boolean): void {
  unfolded = !fold
  toggled = new Set()
  listing.value = listed()
}

function listed(): Listing {
  const store = storeShown()
  const { executors, tags } = choicesOf(store.rows.values())
  return {
    ...flattenTree(store, choice.peek(), isOpen),
    counts: countsOf(store.rows.values()),
    executors,
    tags,
  }
}

function countsOf(rows: Iterable<{ status: TaskStatus }>): Record<TaskStatus, number> {
  const counts = Object.fromEntries(taskStatuses.map((status) => [status, 0])) as Record<TaskStatus, number>
  for (const { status } of rows) counts[status]++
  return counts
}

export function choose(change: Partial<Choice>): void {
  choice.value = { ...choice.peek(), ...change }
  listing.value = listed()
}

/** Searches the page's tasks at once, and the server's shortly after. */
export function search(text: string): void {
  searching.abort()
  searching = new AbortController()
  choose({ text, found: new Set() })
  const { signal: mine } = searching
  if (text.trim() !== '') setTimeout(() => void findOnServer(text, mine), 250)
}
let searching = new AbortController()

async function findOnServer(text: string, mine: AbortSignal): Promise<void> {
  if (mine.aborted) return
  try {
    const { tasks } = await api.get<TaskRowsPage>('tasks', { text, limit: 5_000 }, mine)
    if (!mine.aborted) choose({ found: new Set(tasks.map(({ id }) => id)) })
  } catch (error) {
    // The matches of the page are shown; a failed search on the server (for example for too long a text) is only logged.
    if (!mine.aborted) console.warn('The server could not search:', problemOf(error))
  }
}

function onEvent(event: TaskEvent): void {
  const open = session.peek()
  open?.handleEvent(event)
  if (open?.id !== event.taskId) return
  const status = event.data['status'] as TaskStatus
  const before = lastSpoken.get(event.taskId)
  lastSpoken.set(event.taskId, status)
  if (before !== undefined && before !== status) announce(`${textIn(event.data, 'name')} is ${stateLooks[status].word}`)
}
const lastSpoken = new Map<string, TaskStatus>()

export function announce(text: string): void {
  announcement.value = text
}

// --- The past -----------------------------------------------------------------------------------------------------------

let reading = new AbortController()

/** Shows all tasks at a position of the feed; null returns to now. */
export function travel(seq: number | null): void {
  reading.abort()
  reading = new AbortController()
  wanted.value = seq
  pastProblem.value = null
  if (seq === null) {
    past.value = null
    listing.value = listed()
    announce('Back to now')
    return
  }
  const { signal: mine } = reading
  setTimeout(() => {
    if (!mine.aborted) void show(seq, mine)
  }, 80)
}

async function show(seq: number, mine: AbortSignal): Promise<void> {
  try {
    const found = await readPast(api, seq, mine)
    if (mine.aborted) return
    past.value = found
    listing.value = listed()
  } catch (error) {
    if (!mine.aborted) pastProblem.value = problemOf(error)
  }
}

// --- Navigation -----------------------------------------------------------------------------------------------------------

export function go(to: Route): void {
  location.hash = linkTo(to)
}

function follow(): void {
  route.value = routeOf(location.hash)
  const here = route.value
  if (here.view === 'overview') document.title = 'errand'
  if (here.view === 'task') activeId.value = here.id
  if (here.view === 'task' && session.peek()?.id === here.id) return
  session.peek()?.close()
  lastSpoken.clear()
  session.value = here.view === 'task' ? new TaskSession(here.id, api, beat) : null
}

let suspicion = { of: '', times: 0 }

/**
 * Detects a purge, which writes no events: there are fewer tasks than shown and no events left to follow. It must be detected twice in a
 * row, because the counts may be slightly older than the position next to them, and is reported once.
 */
function hasBeenPurged({ seq, tasks }: EngineStatus): boolean {
  const { store } = link
  const total = Object.values(tasks).reduce((sum, count) => sum + count, 0)
  const quiet = loaded.peek() && seq === store.seq && store.dirtyCount === 0
  if (!quiet || total >= store.rows.size) return false
  const of = `${seq} ${total}`
  suspicion = { of, times: suspicion.of === of ? suspicion.times + 1 : 1 }
  return suspicion.times === 2
}

const statusEveryMs = 2_000
const keptSlots = 150

async function readStatus(): Promise<void> {
  // For the same ledger the response is not older than this position; the feed may be ahead by the time it arrives.
  const lastSeq = link.store.seq
  try {
    const status = await api.get<EngineStatus>('status')
    // A server restarted with another ledger counts from the beginning: the shown tasks belong to the previous one.
    const former = engineStatus.peek()
    const startedAnew = former !== null && former.instanceId !== status.instanceId && status.seq < lastSeq
    if (startedAnew || hasBeenPurged(status)) void link.load()
    engineStatus.value = status
    const { used, maxConcurrent } = status.slots
    slotsUsed.value = [...slotsUsed.peek().slice(-keptSlots + 1), { at: Date.now(), used, most: maxConcurrent }]
  } catch (error) {
    // The banner shows that the server is down; a token without access to the status sees no slots.
    if (problemOf(error).status === 403) return
  }
  setTimeout(() => void readStatus(), document.hidden ? statusEveryMs * 5 : statusEveryMs)
}

/** Called once when the page has loaded. */
export function begin(): void {
  addEventListener('hashchange', follow)
  follow()
  void link.load()
  void readStatus()
}

export const linkToNew: string = linkTo({ view: 'new', parentId: null })
