// A schedule: the times at which a task is made from a template, and how far it has come.
import type { StoredError } from '../core/errors.ts'

/** What becomes of a tick while the task of the tick before is open. `queue`: at most one waits for the end of that task. */
export const overlaps = ['skip', 'queue', 'replace', 'allow'] as const
/** What becomes of ticks that have passed while no engine worked: one task for all of them, or none. */
export const catchUps = ['one', 'none'] as const
/** Fields of `create` that only a single task can have. */
export const fieldsOfOneTask = ['key', 'parentId', 'blockedBy', 'notBefore', 'deadline'] as const

/** What a tick led to. `missed`: it passed while no engine worked. `refused`: the task could not be created. */
export const tickOutcomes = ['created', 'queued', 'skipped', 'missed', 'refused'] as const

export interface TickRecord {
  /** The planned time, in epoch milliseconds. */
  tick: number
  /** When it was decided. */
  at: number
  outcome: (typeof tickOutcomes)[number]
  /** Why it was refused. */
  error?: StoredError
}

/** A row of the schedule table. It has either `cron` or `everyMs`. */
export interface ScheduleRecord {
  name: string
  cron: string | null
  everyMs: number | null
  /** Of the cron expression. */
  timezone: string
  overlap: (typeof overlaps)[number]
  catchUp: (typeof catchUps)[number]
  jitterMs: number
  /** The drafts of the tree that each tick creates, the root first, with ids that are replaced. */
  drafts: readonly object[]
  paused: boolean
  /** The next planned time; null when there is none. */
  nextTick: number | null
  /** When it is due: `nextTick` with its jitter; null while the schedule is paused. */
  nextAt: number | null
  /** The tick that waits for the end of the latest task. */
  queuedTick: number | null
  /** The latest task. */
  taskId: string | null
  /** The latest tick. */
  last: TickRecord | null
  createdAt: number
  updatedAt: number
}

export const scheduleKeyPrefix = 'schedule:'

/** The key of the task of a tick: no tick is made twice, however many engines try. */
export function keyOfTick(name: string, tick: number): string {
  return `${scheduleKeyPrefix}${name}:${new Date(tick).toISOString()}`
}
