// Shows all tasks at a position of the feed, and returns to now.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import { readPast } from '../live/past.ts'
import type { Problem } from '../model/wire.ts'
import { api } from './api.ts'
import { announce } from './navigation.ts'
import { past, updateListing } from './task-list.ts'

/** The requested position, also while it is being read; null for now. */
export const requestedSeq = signal<number | null>(null)
/** Why the past could not be read. */
export const pastProblem = signal<Problem | null>(null)

/** While the scrubber moves, only the last position is read. */
const settleMs = 80

let reading = new AbortController()

/** Shows all tasks at a position of the feed; null returns to now. */
export function travel(seq: number | null): void {
  reading.abort()
  reading = new AbortController()
  requestedSeq.value = seq
  pastProblem.value = null
  if (seq === null) {
    past.value = null
    updateListing()
    announce('Back to now')
    return
  }
  const { signal: mine } = reading
  setTimeout(() => {
    if (!mine.aborted) void show(seq, mine)
  }, settleMs)
}

async function show(seq: number, mine: AbortSignal): Promise<void> {
  try {
    const found = await readPast(api, seq, mine)
    if (mine.aborted) return
    past.value = found
    updateListing()
  } catch (error) {
    if (!mine.aborted) pastProblem.value = problemOf(error)
  }
}
