// All tasks at a position of the feed, read while a person moves the scrubber: only the last request counts.

import { TaskStore } from '../model/task-store.ts'
import type { EventPage, TaskEvent, TaskRowsPage } from '../model/wire.ts'
import type { ApiClient } from './api-client.ts'

const pageSize = 5_000

export interface Past {
  seq: number
  /** Time of the latest event up to the position; null before the first. */
  at: number | null
  store: TaskStore
}

/** @throws ApiError, or an AbortError when another position is requested. */
export async function readPast(api: ApiClient, seq: number, signal: AbortSignal): Promise<Past> {
  const store = new TaskStore()
  const latest = api.get<EventPage>('events/list', { before: seq + 1, limit: 1 }, signal)
  for (let after: number | null = 0; after !== null; ) {
    const page: TaskRowsPage = await api.get('tasks', { at: seq, limit: pageSize, after }, signal)
    store.applyRows(page.tasks, seq)
    after = page.next
  }
  return { seq, at: (await latest).events[0]?.at ?? null, store }
}

/** The first and the last event of the feed. */
export async function readSpan(api: ApiClient): Promise<{ first: TaskEvent | null; last: number }> {
  const { events, seq: last } = await api.get<EventPage>('events/list', { after: 0, limit: 1 })
  return { first: events[0] ?? null, last }
}
