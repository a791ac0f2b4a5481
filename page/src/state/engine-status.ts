// The status of the engine, read every few seconds: its slots, and whether the tasks shown are still those of its ledger.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import { missingExecutors } from '../model/attention.ts'
import { wordOf } from '../model/lifecycle.ts'
import type { EngineStatus } from '../model/wire.ts'
import { api } from './api.ts'
import { session } from './navigation.ts'
import { link, loaded } from './task-list.ts'

export interface SlotSample {
  at: number
  used: number
  max: number
}

export const engineStatus = signal<EngineStatus | null>(null)
/** Executors that no engine is known to run, with the number of queued tasks that need them. */
export const missing = signal<ReturnType<typeof missingExecutors>>([])
/** The latest samples, oldest first. */
export const slotSamples = signal<SlotSample[]>([])

const statusEveryMs = 2_000
const maxSamples = 150

let suspectedPurge = { of: '', times: 0 }

/**
 * Detects a purge, which writes no events: there are fewer tasks than shown and no events left to follow. It must be detected twice in a
 * row, because the counts may be slightly older than the position next to them, and is reported once.
 */
function hasBeenPurged({ seq, tasks }: EngineStatus): boolean {
  const { store } = link
  const total = Object.values(tasks).reduce((sum, count) => sum + count, 0)
  const quiet = loaded.peek() && seq === store.seq && store.dirtyCount === 0
  // System tasks are not counted.
  if (!quiet || link.system || total >= store.rows.size) return false
  const of = `${seq} ${total}`
  suspectedPurge = { of, times: suspectedPurge.of === of ? suspectedPurge.times + 1 : 1 }
  return suspectedPurge.times === 2
}

/**
 * No event reports that an engine has died. One that works takes its runs over, with events; behind one that does not, the page asks whether
 * the tasks still run.
 */
function lookForLostRuns(): void {
  const { rows } = link.store
  link.readAgain(
    [...rows.values()].filter((row) => row.status === 'working' && row.executor !== null).map(({ id }) => id),
  )
  const open = session.peek()
  const row = rows.get(open?.id ?? '')
  if (row !== undefined && wordOf(row) === 'interrupted' && open?.why.peek()?.reason === 'running') void open.read()
}

/** Reads the status now and again after each interval, until the server denies access to it. Called once. */
export async function followStatus(): Promise<void> {
  // For the same ledger the response is not older than this position; the feed may be ahead by the time it arrives.
  const lastSeq = link.store.seq
  try {
    const status = await api.get<EngineStatus>('status')
    // A server restarted with another ledger counts from the beginning: the shown tasks belong to the previous one.
    const former = engineStatus.peek()
    const startedAnew = former !== null && former.instanceId !== status.instanceId && status.seq < lastSeq
    if (startedAnew || hasBeenPurged(status)) void link.load()
    engineStatus.value = status
    if (!status.working) lookForLostRuns()
    missing.value = status.queued === 0 ? [] : missingExecutors(link.store.rows.values(), status, status.at)
    const { used, maxConcurrent } = status.slots
    slotSamples.value = [...slotSamples.peek().slice(-maxSamples + 1), { at: Date.now(), used, max: maxConcurrent }]
  } catch (error) {
    // The banner shows that the server is down; a token without access to the status sees no slots.
    if (problemOf(error).status === 403) return
  }
  setTimeout(() => void followStatus(), document.hidden ? statusEveryMs * 5 : statusEveryMs)
}
