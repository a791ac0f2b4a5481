// An event as surfaces show it, and the parts of inputs that name positions of the feed.
import { z } from 'zod'
import { eventTypes } from '../../entities/event.ts'

export const eventSchema = z.object({
  /** Position in the one order of all events. */
  seq: z.int(),
  type: z.enum(eventTypes),
  taskId: z.string(),
  /** Epoch milliseconds. */
  at: z.number(),
  instanceId: z.string(),
  /** Always with the `name` and `status` of the task after it. */
  data: z.record(z.string(), z.unknown()),
})

export const positionSchema = z.int().min(0)
