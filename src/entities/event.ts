// The event: one row of the audit trail, which is also the feed. Only stored events are published.
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
  'run.parked',
  'run.continued',
  'run.closed',
  'call.started',
  'call.completed',
  'call.failed',
  'model.failed',
  'model.prompt_cut',
  'question.asked',
  'signal.received',
  'machine.moved',
  'machine.emitted',
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

/** The requester of a change from outside. */
export interface Requester {
  /** `http`, `mcp`, `cli`, `model`, … */
  surface: string
  /** The name of the credentials, or the owner of the requesting task. */
  owner?: string
  /** The task whose run or model requested the change. */
  taskId?: string
}

/**
 * One event. `data` always holds the `name` and `status` of the task after it, and `requestedBy` (a `Requester`) unless the program of the
 * engine itself requested the change; events that follow from it in the same transaction have the same. The events of a cascade have
 * `cascadedFrom`, the id of the task that caused it.
 */
export interface TaskEvent {
  /** The global order: the position in every stream and the cursor of the feed. */
  seq: number
  type: EventType
  taskId: string
  /** Epoch milliseconds. */
  at: number
  /** The engine instance that wrote it. */
  instanceId: string
  data: Record<string, unknown>
}
