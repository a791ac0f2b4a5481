// When and by whom: what every step is told, so that judging needs no clock.
import type { EventType } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { NewEvent, Op, Reads } from '../ledger/ledger.ts'

export interface Moment {
  /** Epoch milliseconds. */
  at: number
  instanceId: string
}

const latestDate = 8.64e15

/** When a delay is over. Whole milliseconds, as the tables keep them; never earlier than it was asked for. */
export function dueAfter(at: number, delayMs: number): number {
  return Math.min(Math.ceil(at + delayMs), latestDate)
}

/** An event about a task as it is after the step. `ready` stands in it when a supervisor should look, `team` when a team may have to be. */
export function eventOf(
  moment: Moment,
  type: EventType,
  task: TaskRecord,
  data: Record<string, unknown> = {},
): NewEvent {
  return {
    type,
    taskId: task.id,
    at: moment.at,
    instanceId: moment.instanceId,
    data: {
      name: task.name,
      status: task.status,
      ...(task.ready ? { ready: true } : {}),
      ...(task.policy.team === undefined ? {} : { team: task.policy.team.taskId }),
      ...data,
    },
  }
}

/** The stored task, or a refusal. A deleted one is as good as unknown. */
export function requireTask(task: TaskRecord | undefined, id: string): TaskRecord {
  if (task !== undefined && task.deletedAt === null) return task
  throw new ErrandError('NOT_FOUND', `Task not found: ${id}. \`list\` shows what there is.`, { taskId: id })
}

/** Loads a task, or refuses. @throws ErrandError NOT_FOUND */
export function* loadTask(tx: Reads, id: string): Op<TaskRecord> {
  return requireTask(yield* tx.task.get(id), id)
}
