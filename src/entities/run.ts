// The run: one period of WORKING. Its number is the fence against writes of a stale owner.
import { z } from 'zod'
import type { StoredError } from '../core/errors.ts'
import { once } from '../core/once.ts'

/**
 * The task is working: its function runs (`live`), or waits in memory for other tasks without a slot (`parked`), or has what it waited for
 * and waits for a slot (`queued`).
 */
export const liveRunStatuses = ['live', 'parked', 'queued'] as const
/** Then it is `ending` until the executor has settled, and `closed`. */
export const runStatuses = [...liveRunStatuses, 'ending', 'closed'] as const
export type RunStatus = (typeof runStatuses)[number]

/** Statuses of open runs that hold a slot. */
export const slotStatuses = ['live', 'ending'] as const satisfies readonly RunStatus[]

export function isLiveRun({ status }: { status: RunStatus }): boolean {
  return (liveRunStatuses as readonly RunStatus[]).includes(status)
}

/** Why a run ended. `interrupted` counts as a crash, `released` (the engine released the task) does not. */
export const runOutcomes = [
  'completed',
  'failed',
  'paused',
  'canceled',
  'input_required',
  'waiting',
  'interrupted',
  'released',
] as const
export type RunOutcome = (typeof runOutcomes)[number]

export const runShape = {
  taskId: z.string(),
  /** Counts from 1 within the task. */
  number: z.int(),
  /** The generation of its task at that time. */
  generation: z.int(),
  attempt: z.int(),
  /** The engine instance that runs it. */
  instanceId: z.string(),
  status: z.enum(runStatuses),
  /** Null while live. */
  outcome: z.enum(runOutcomes).nullable(),
  error: z.custom<StoredError>().nullable(),
  startedAt: z.number(),
  /** When the task left WORKING; null while live. */
  endedAt: z.number().nullable(),
  /** When its executor had settled or was abandoned; null until then. */
  closedAt: z.number().nullable(),
  /** When it times out; null for no limit, and while it is parked. */
  dueAt: z.number().nullable(),
}

/** One run of a task. Times are epoch milliseconds. */
export interface RunRecord extends z.output<z.ZodObject<typeof runShape>> {}

/** Counts from 1; see `run.continueAsNew`. */
export const generationSchema = z.int().min(1)

/** Options of `engine.calls` and `engine.runs`. */
export const generationOptionsSchema = once(() => z.strictObject({ generation: generationSchema.optional() }))
