// Changes of many tasks at once: the actions, their options and what they return.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { functionOf } from '../core/parse.ts'
import { executorOptionsSchema } from './executor.ts'
import { deleteOptionsSchema } from './options.ts'

export const batchActions = ['retry', 'cancel', 'pause', 'resume', 'delete'] as const
export type BatchAction = (typeof batchActions)[number]

export const batchOptionsShape = once(() => ({
  dryRun: z.boolean().default(false).describe('Only counts, and changes nothing.'),
  reason: z.string().min(1).optional().describe('For cancel.'),
  children: deleteOptionsSchema()
    .shape.children.removeDefault()
    .optional()
    .describe('For delete: what becomes of the children.'),
  divergence: executorOptionsSchema().shape.divergence.describe('For retry.'),
}))

/** How far a batch has come. */
export interface BatchProgress {
  /** Tasks that were changed so far. */
  done: number
  /** Tasks that refused the change so far. */
  refused: number
  /** Tasks that the filter found at the beginning. */
  total: number
}

export const batchRunSchema = once(() =>
  z.strictObject({
    ...batchOptionsShape(),
    signal: z.instanceof(AbortSignal).optional(),
    onProgress: functionOf<(progress: BatchProgress) => void>('(progress)').optional(),
  }),
)
export type BatchOptions = z.input<ReturnType<typeof batchRunSchema>>

/** A task that did not take the change. */
export interface BatchRefusal {
  taskId: string
  seq: number
  name: string
  /** The code of the error with which the change of this task alone is refused. */
  code: string
  message: string
}

export interface BatchResult {
  /** The number of tasks that were changed; with `dryRun`, that would be. */
  done: number
  /** The first 1,000 refusals. */
  refused: BatchRefusal[]
  /** The number of all refusals. */
  refusedCount: number
  /** The number of tasks that the filter found at the beginning. */
  total: number
  /** Only tasks that had ended (or, if open, were created) before this time were changed. Epoch milliseconds. */
  before: number
  /** The signal stopped it before its end. */
  stopped: boolean
}
