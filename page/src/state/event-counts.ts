// Starts and ends of tasks over time, read again while the charts are shown.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import type { EventCounts, Problem } from '../model/wire.ts'
import { api } from './api.ts'

/** The spans of the charts: parts of a minute, and of half an hour. */
export const spans = {
  hour: { label: 'the last hour', widthMs: 60_000, buckets: 60 },
  day: { label: 'the last day', widthMs: 1_800_000, buckets: 48 },
} as const
export type Span = keyof typeof spans

/** Null before they are read. */
export const eventCounts = signal<EventCounts | null>(null)
export const countsProblem = signal<Problem | null>(null)

const readEveryMs = 5_000

/** Keeps the counts current until the returned function is called. */
export function followCounts(span: Span): () => void {
  const { widthMs, buckets } = spans[span]
  let isOver = false
  const read = async () => {
    try {
      const counts = await api.get<EventCounts>('events/counts', { widthMs, buckets })
      if (isOver) return
      eventCounts.value = counts
      countsProblem.value = null
    } catch (error) {
      if (!isOver) countsProblem.value = problemOf(error)
    }
  }
  void read()
  const timer = setInterval(() => {
    if (!document.hidden) void read()
  }, readEveryMs)
  return () => {
    isOver = true
    clearInterval(timer)
    eventCounts.value = null
  }
}
