// event:counts: how many tasks started and ended over time, and how long they waited, for charts.
import { z } from 'zod'
import { durationSchema } from '../../core/duration-schema.ts'
import { defineOperation } from '../define-operation.ts'
import { refuseTasks } from '../own-tasks.ts'

/** Starts of one bucket whose waiting time is read, the latest ones. */
const maxWaits = 50

/** System tasks are not counted, nor are failures that another attempt follows. Counts what has not been purged. */
export const eventCounts = defineOperation({
  id: 'event:counts',
  access: 'read',
  description:
    'Counts by time how many tasks started, were completed, failed for good or were canceled, and how long they waited.',
  routes: [
    {
      endpoint: 'GET /events/counts',
      tag: 'Events',
      operationId: 'countEvents',
      summary: 'Count starts and ends of tasks',
    },
  ],
  input: () =>
    z.strictObject({
      widthMs: durationSchema({ min: 1_000, max: 86_400_000 })
        .default(60_000)
        .describe('Length of each part of the time, in milliseconds.'),
      buckets: z.int().min(1).max(100).default(60).describe('How many parts, the last of which ends now.'),
    }),
  output: () =>
    z.object({
      /** The beginning of the first part, in epoch milliseconds; each is `widthMs` long. */
      from: z.number(),
      widthMs: z.int(),
      buckets: z.array(
        z.object({
          started: z.int(),
          completed: z.int(),
          failed: z.int(),
          canceled: z.int(),
          /** The mean time from the event before to the start, of the latest 50 starts; null without any. */
          waitMs: z.number().nullable(),
        }),
      ),
    }),
  models: false,
  handle: async ({ widthMs, buckets: count }, { caller }, host) => {
    refuseTasks(caller, 'event:counts')
    const { at } = await host.stepContext()
    const from = at + 1 - widthMs * count
    const buckets = await host.read(function* (tx) {
      const parts = Array.from({ length: count }, () => ({
        started: 0,
        completed: 0,
        failed: 0,
        canceled: 0,
        waitMs: null as number | null,
      }))
      for (const { type, bucket, events } of yield* tx.event.counts(from, at + 1, widthMs)) {
        const part = parts[bucket]
        if (part !== undefined) part[outcomes[type as keyof typeof outcomes]] = events
      }
      for (const [index, part] of parts.entries()) {
        if (part.started === 0) continue
        const begin = from + index * widthMs
        const waits = yield* tx.event.waits(begin, begin + widthMs, maxWaits)
        if (waits.length > 0) part.waitMs = Math.round(waits.reduce((sum, wait) => sum + wait, 0) / waits.length)
      }
      return parts
    })
    return { from, widthMs, buckets }
  },
})

const outcomes = {
  'task.started': 'started',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.canceled': 'canceled',
} as const
