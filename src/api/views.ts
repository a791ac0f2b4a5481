// What people see of the engine beside tasks: why one does not run, what a stream yields, counts and slots, pages, limits.
import { z } from 'zod'
import type { TaskEvent } from '../entities/event.ts'
import type { SharedLimits } from '../entities/limits.ts'
import type { Audience } from '../entities/question.ts'
import { type Task, type TaskId, type TaskStatus, taskStatuses } from '../entities/task.ts'

/**
 * Ids are strings; verbs take the task itself as well. With `expectedVersion` (the `version` of the task as it was read) a verb that
 * changes the task is refused as VERSION_CONFLICT when the task has been written since.
 */
export type TaskRef<R = unknown> = TaskId<R> | { id: TaskId<R>; expectedVersion?: number | undefined } | string

/** Why a task does not run, in one word; `Why` says what each means. */
export const whyReasons = [
  'slot',
  'lane',
  'limit',
  'claim',
  'blocked',
  'timer',
  'answer',
  'executor',
  'model',
  'held',
  'children',
  'closing',
  'running',
  'settled',
] as const

/** Why a task does not run. */
export interface Why {
  taskId: string
  status: TaskStatus
  /**
   * `slot`: queued behind others; `lane`: its parent has as many children running as it lets; `limit`: a limit that all engines
   * on the ledger share is reached; `blocked`: dependencies are open; `timer`: not before a time; `answer`: a question is open;
   * `executor`: no engine that works here has its executor; `model`: its executor is an agent, and has no model; `claim`: it has none, and waits for somebody to claim it; `held`:
   * somebody must start or resume it; `children`: it waits for other tasks, or is a group none of whose tasks runs now;
   * `closing`: queued, but its last run is still ending; `running`; `settled`.
   */
  reason: (typeof whyReasons)[number]
  /** The same for people, with what would help. */
  message: string
  /** Ids of the tasks that block it, that it waits for, or that take its place. */
  tasks: string[]
  /** When the timer fires, in epoch milliseconds; null without one. */
  at: number | null
}

interface StreamItemBase {
  taskId: string
  /** Position in the ledger: pass the last one seen as `after` to go on from there. Live items carry the last durable one. */
  seq: number
}
/** An item of `engine.stream`. */
export type StreamItem = StreamItemBase &
  (
    | { type: 'start'; name: string; goal: string | null }
    | { type: 'state'; status: TaskStatus; from: TaskStatus | null; reason: string | null; at: number }
    /** Of a message on its way: `offset` is where in its text the piece begins, in UTF-16 units. */
    | { type: 'content'; content: string; messageId?: string; offset?: number }
    | { type: 'message'; messageId: string; role: string; content: string; announcement: boolean }
    | { type: 'question'; questionId: string; question: string; for: Audience; schema: unknown; default?: unknown }
    | { type: 'progress'; fraction: number; note: string | null }
    | { type: 'tool_call'; callId: string; tool: string; args: unknown }
    | { type: 'tool_result'; callId: string; tool: string; result: unknown; error?: { code: string; message: string } }
    | { type: 'error'; error: { code: string; message: string }; willRetry: boolean }
    | { type: 'end'; status: 'completed' | 'failed' | 'canceled' }
  )

export type EventHandler = (event: TaskEvent) => unknown

/** A page of `engine.list`. */
export interface TaskPage {
  tasks: Task[]
  /** How many match, regardless of the limit. */
  total: number
  /** Pass as `after` for the next page; null on the last. */
  next: string | null
}

const runningTaskSchema = z.object({
  taskId: z.string(),
  name: z.string(),
  executor: z.string(),
  run: z.int(),
  /** Epoch milliseconds. */
  since: z.number(),
})
/** An open executor run of this engine. */
export interface RunningTask extends z.output<typeof runningTaskSchema> {}

export const engineStatusShape = {
  /** Tasks by state, deleted ones excluded. What another process purges stays counted here until the next `purge` of our own. */
  tasks: z.record(z.enum(taskStatuses), z.int()),
  /** Tasks that are ready for a slot, and tasks that may be claimed. Counted at most every 50 ms. */
  queued: z.int(),
  claimable: z.int(),
  /** This engine admits tasks. */
  working: z.boolean(),
  /** Slots of this engine: a slot is an open executor run. */
  slots: z.object({ used: z.int(), free: z.int(), maxConcurrent: z.int() }),
  /** What runs in this engine now. */
  running: z.array(runningTaskSchema),
}
/** What `engine.status` holds: a read model of the whole ledger and of this engine's slots. */
export interface EngineStatus extends z.output<z.ZodObject<typeof engineStatusShape>> {
  /** False until the tasks have been counted for the first time, a moment after the first look. */
  counted: boolean
  /** The latest durable event of the ledger since the first look; null before one. */
  lastEvent: TaskEvent | null
}

/** A value that changes and can be watched. */
export interface Watched<T> {
  get(): T
  /** Told of each change; returns how to stop. */
  subscribe(listener: (value: T) => void): { unsubscribe(): void }
}

/** An `@xstate/store` store, as far as embedders need one. */
export interface StatusStore extends Watched<{ context: EngineStatus }> {
  /** The same as `get`: what the hooks of front ends ask for. The same object until something has changed. */
  getSnapshot(): { context: EngineStatus }
  /** Watches a part: told only when what the selector picks has changed. */
  select<T>(selector: (status: EngineStatus) => T, equal?: (a: T, b: T) => boolean): Watched<T>
}

/** Limits of this engine, and those that all engines on the ledger share. */
export interface Limits {
  engine: { maxConcurrent: number; limits: Readonly<Record<string, number>> }
  shared: SharedLimits
}

/** Which open tasks can be worked off in which order. */
export interface TaskGraph {
  /** Open tasks, each after all that it comes after; among those that are free at once by priority, then age. */
  order: Task[]
  /** Tasks that come after nobody and hold up others, most first, with how many come after each, directly or by others. */
  critical: Array<{ taskId: string; holdsUp: number }>
}
