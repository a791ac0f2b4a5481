// The event: one row of the audit trail, which is also the feed that everyone follows. Nothing is published that is not here.
import { z } from 'zod'

/** Types of durable events, in the past tense. `subscribe` takes one of them or `*`. */
export const eventTypes = [
  'task.created',
  'task.started',
  'task.paused',
  'task.resumed',
  'task.input_required',
  'task.answered',
  'task.waiting',
  'task.unblocked',
  'task.completed',
  'task.failed',
  'task.retried',
  'task.canceled',
  'task.claimed',
  'task.released',
  'task.updated',
  'task.promoted',
  'task.deleted',
  'task.diverged',
  'task.repaired',
  'timer.fired',
  'run.closed',
  'call.started',
  'call.completed',
  'call.failed',
  'model.failed',
  'question.asked',
  'message.appended',
  'output.written',
  'progress.reported',
  'agent.joined',
  'agent.completed',
  'objective.updated',
  'team.closed',
] as const
export type EventType = (typeof eventTypes)[number]

export const eventSchema = z.object({
  seq: z.int(),
  type: z.enum(eventTypes),
  taskId: z.string(),
  at: z.number(),
  instanceId: z.string(),
  data: z.record(z.string(), z.unknown()),
})

/** Who asked for a change from outside. */
export interface Requester {
  /** Where it came in: `http`, `mcp`, `cli`, `model`, … */
  surface: string
  /** The name that their credentials stand for, or the owner of the task in whose name they ask. */
  owner?: string
  /** The task whose run, or whose model, asked. */
  taskId?: string
}

/**
 * One event. `data` always holds the task's `name` and `status` after it, and `requestedBy` (a `Requester`) where somebody else than
 * the program of the engine asked for the change; what follows from it in the same transaction has the same. The events of a cascade have
 * `cascadedFrom`, the id of the task whose own event says it.
 */
export interface TaskEvent {
  /** One global order: the position of every stream and the cursor of every follower. */
  seq: number
  type: EventType
  taskId: string
  /** Epoch milliseconds. */
  at: number
  /** The engine instance that wrote it. */
  instanceId: string
  data: Record<string, unknown>
}
