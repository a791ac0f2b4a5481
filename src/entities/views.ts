// The public views of the engine besides tasks: why a task does not run, items of a stream, counts and slots, pages, limits.
import { z } from 'zod'
import type { TaskEvent } from './event.ts'
import type { SharedLimits } from './limits.ts'
import type { Audience } from './question.ts'
import { type BriefTask, type Task, type TaskId, type TaskStatus, taskStatuses } from './task.ts'

/**
 * A task or its id. With `expectedVersion` (the `version` of the task as it was read) a method that changes the task throws
 * VERSION_CONFLICT when the task has been written since.
 */
export type TaskRef<R = unknown> = TaskId<R> | { id: TaskId<R>; expectedVersion?: number | undefined } | string

/** The reasons why a task does not run; documented at `Why`. */
export const whyReasons = [
  'slot',
  'lane',
  'limit',
  'claim',
  'blocked',
  'timer',
  'answer',
  'signal',
  'executor',
  'model',
  'held',
  'children',
  'closing',
  'running',
  'lost',
  'settled',
] as const

/** Why a task does not run. */
export interface Why {
  taskId: string
  status: TaskStatus
  /**
   * `slot`: queued behind other tasks; `lane`: the concurrency limit of its parent is reached; `limit`: a limit that all engines on the
   * ledger share is reached; `blocked`: dependencies are open; `timer`: it must not start before a time; `answer`: a question is open;
   * `signal`: it waits for a signal; `executor`: no working engine has its executor; `model`: its executor is an agent without a model;
   * `claim`: it has no executor and waits to be claimed; `held`: it must be started or resumed; `children`: it waits for other tasks, or is
   * a group of which no task runs now; `closing`: queued, but its last run is still ending; `running`; `lost`: the engine of
   * its run is dead, and no other has taken it over yet; `settled`.
   */
  reason: (typeof whyReasons)[number]
  /** The reason as text, with what would help. */
  message: string
  /** Ids of the tasks that block it, that it waits for, or that occupy the limit. */
  tasks: string[]
  /** When the timer fires, in epoch milliseconds; null without one. */
  at: number | null
}

interface StreamItemBase {
  taskId: string
  /** Position in the ledger: pass the last one as `after` to continue from there. Live items carry the last durable one. */
  seq: number
}
/** An item of `engine.stream`. */
export type StreamItem = StreamItemBase &
  /** The first item of a stream from the beginning. */
  (
    | { type: 'start'; name: string; goal: string | null }
    /** The task has changed its state; `at` is epoch milliseconds. */
    | { type: 'state'; status: TaskStatus; from: TaskStatus | null; reason: string | null; at: number }
    /**
     * A piece of a message that is being written: `offset` is its position in the text, in UTF-16 units. Without `messageId` it is output, of the
     * standard error if `stream` says so.
     */
    | { type: 'content'; content: string; messageId?: string; offset?: number; stream?: 'stderr' }
    /** A whole message of the conversation. */
    | { type: 'message'; messageId: string; role: string; content: string; announcement: boolean }
    /** The task waits for an answer. */
    | { type: 'question'; questionId: string; question: string; for: Audience; schema: unknown; default?: unknown }
    /** A machine (`errand/machine`) has consumed an event; `value`: the state that it is in now, as XState names it. */
    | { type: 'machine'; event: string; value: unknown }
    /** A machine has emitted an event. */
    | { type: 'emitted'; event: { type: string; [field: string]: unknown } }
    /** The run has reported its progress, 0 to 1. */
    | { type: 'progress'; fraction: number; note: string | null }
    /** A call has begun, of a function or of a model; `tool` is its name, `args` are its params. */
    | { type: 'tool_call'; callId: string; tool: string; args: unknown }
    /** A call has ended; `error` if it failed. */
    | { type: 'tool_result'; callId: string; tool: string; result: unknown; error?: { code: string; message: string } }
    /** An attempt has failed; `willRetry` if another one follows. */
    | { type: 'error'; error: { code: string; message: string }; willRetry: boolean }
    /** The last item. */
    | { type: 'end'; status: 'completed' | 'failed' | 'canceled' }
  )

export type EventHandler = (event: TaskEvent) => unknown

/** A page of `engine.list`. */
export interface TaskPage {
  /** At most `limit` tasks, and fewer if these are longer than 4 MiB together. */
  tasks: Task[]
  /** Number of matching tasks, regardless of the limit. */
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
  /** It waits in memory for other tasks, and holds no slot. */
  parked: z.boolean(),
})
/** An open executor run of this engine. */
export interface RunningTask extends z.output<typeof runningTaskSchema> {}

export const engineStatusShape = {
  /** Tasks by state, without deleted ones. Tasks that another process purges are counted until this engine's next `purge`. */
  tasks: z.record(z.enum(taskStatuses), z.int()),
  /** Tasks that wait for a slot, and tasks that may be claimed. Counted at most every 50 ms. */
  queued: z.int(),
  claimable: z.int(),
  /** Whether this engine admits tasks. */
  working: z.boolean(),
  /** Slots of this engine: a slot is an open executor run that is not parked. */
  slots: z.object({ used: z.int(), free: z.int(), maxConcurrent: z.int() }),
  /** The open runs of this engine. */
  running: z.array(runningTaskSchema),
}
/** The content of `engine.status`: a read model of the whole ledger and of this engine's slots. */
export interface EngineStatus extends z.output<z.ZodObject<typeof engineStatusShape>> {
  /** False until the tasks have been counted for the first time, shortly after the first access. */
  counted: boolean
  /** The latest durable event of the ledger since the first access; null before one. */
  lastEvent: TaskEvent | null
}

/** A value that changes and can be watched. */
export interface Watched<T> {
  get(): T
  /** Calls the listener at each change. */
  subscribe(listener: (value: T) => void): { unsubscribe(): void }
}

/** The public part of an `@xstate/store` store. */
export interface StatusStore extends Watched<{ context: EngineStatus }> {
  /** The same as `get`, for the hooks of front ends. Returns the same object until something changes. */
  getSnapshot(): { context: EngineStatus }
  /** Watches a part: listeners are called only when the selected value changes. */
  select<T>(selector: (status: EngineStatus) => T, equal?: (a: T, b: T) => boolean): Watched<T>
}

/** Limits of this engine, and those that all engines on the ledger share. */
export interface Limits {
  engine: { maxConcurrent: number; limits: Readonly<Record<string, number>> }
  shared: SharedLimits
}

/** The open tasks in topological order. */
export interface TaskGraph {
  /** Open tasks without their long fields, each after its dependencies; tasks that could start at the same time by priority, then age. */
  order: BriefTask[]
  /** Unblocked tasks that block others, with the number of their direct and indirect dependents, highest first. */
  critical: Array<{ taskId: string; holdsUp: number }>
}
