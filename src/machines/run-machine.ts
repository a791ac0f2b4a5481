// A run's life: live → ending → closed; a run whose executor settles by itself goes from live to closed at once.
import type { RunStatus } from '../entities/run.ts'

export const runTransitions: Readonly<Record<RunStatus, Readonly<Partial<Record<'end' | 'close', RunStatus>>>>> = {
  live: { end: 'ending', close: 'closed' },
  ending: { close: 'closed' },
  closed: {},
}
