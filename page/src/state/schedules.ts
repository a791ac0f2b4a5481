// The schedules, and what this token may do with them. Their changes write no events, so they are read every few seconds while they are shown.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import type { Problem, Schedule, SchedulePage } from '../model/wire.ts'
import { api } from './api.ts'

/** Null before they are read. */
export const schedules = signal<Schedule[] | null>(null)
/** Why they cannot be read; null if they can. */
export const schedulesProblem = signal<Problem | null>(null)
/** The ids of the abilities that this token may call, as far as they are known. */
export const allowed = signal<ReadonlySet<string>>(new Set())

const readEveryMs = 2_000
let reads = 0

/** Reads the schedules; of reads at the same time, the one that began last counts. */
export async function readSchedules(): Promise<void> {
  const own = ++reads
  const read = await readPages().then(
    (found) => ({ found, problem: null }),
    (error: unknown) => ({ found: schedules.peek(), problem: problemOf(error) }),
  )
  if (own !== reads) return
  schedules.value = read.found
  schedulesProblem.value = read.problem
}

async function readPages(): Promise<Schedule[]> {
  const found: Schedule[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: SchedulePage = await api.get('schedules', { after, limit: 500 })
    found.push(...page.schedules)
    after = page.next
  }
  return found
}

async function readAllowed(): Promise<void> {
  try {
    const { abilities } = await api.get<{ abilities: Array<{ id: string }> }>('abilities')
    allowed.value = new Set(abilities.map(({ id }) => id))
  } catch (error) {
    // The schedules are shown without actions.
    console.warn('Could not read the abilities', problemOf(error))
  }
}

/** Keeps the schedules current until the returned function is called. */
export function followSchedules(): () => void {
  void readAllowed()
  void readSchedules()
  const timer = setInterval(() => {
    if (!document.hidden) void readSchedules()
  }, readEveryMs)
  return () => clearInterval(timer)
}
