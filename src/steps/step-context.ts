// When and by whom: what every step is told, so that judging needs no clock. And what most steps begin with: the task, or a refusal.
import { type Caller, requesterOf } from '../bus/caller.ts'
import { briefError, ErrandError, type StoredError } from '../core/errors.ts'
import type { EventType, Requester } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { NewEvent, NewTask, Op, Reads } from '../ledger/ledger.ts'
import { isQueued } from '../machines/readiness.ts'

export interface StepContext {
  /** Epoch milliseconds. */
  at: number
  instanceId: string
  /** Who asked for what is done now; absent: the program of the engine itself. */
  requester?: Requester
}

/** The same moment, with who asked for what is done at it: all events of the step record them. */
export function requestedBy<M extends StepContext>(ctx: M, caller: Caller): M {
  const requester = requesterOf(caller)
  return requester === undefined ? ctx : { ...ctx, requester }
}

/** The same host for one caller: the moments that it gives record who asked. */
export function onBehalfOf<H extends { stepContext(): Promise<StepContext> }>(host: H, caller: Caller): H {
  return { ...host, stepContext: async () => requestedBy(await host.stepContext(), caller) }
}

const latestDate = 8.64e15

/** When a delay is over. Whole milliseconds, as the tables keep them; never earlier than it was asked for. */
export function dueAfter(at: number, delayMs: number): number {
  return Math.min(Math.ceil(at + delayMs), latestDate)
}

/** An event about a task as it is after the step. `ready` stands in it when the task is queued, `team` when a team may have to be. */
export function eventOf(
  ctx: StepContext,
  type: EventType,
  task: NewTask,
  data: Record<string, unknown> = {},
): NewEvent {
  return {
    type,
    taskId: task.id,
    at: ctx.at,
    instanceId: ctx.instanceId,
    data: {
      name: task.name,
      status: task.status,
      ...(isQueued(task) ? { ready: true } : {}),
      ...(task.policy.team === undefined ? {} : { team: task.policy.team.taskId }),
      ...(ctx.requester === undefined ? {} : { requestedBy: ctx.requester }),
      ...data,
      // The stack stays in the row: events go to every subscriber and every surface, and a model may read them.
      ...(data.error ? { error: briefError(data.error as StoredError) } : {}),
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

/** The refusal of what a task may do only when all that it comes after is completed. */
export function blocked(what: string, blockedBy: readonly string[], details: object): ErrandError {
  const message = `Cannot ${what}: it comes after ${blockedBy.join(', ')}, which must be completed first.`
  return new ErrandError('BLOCKED', message, { ...details, blockedBy })
}

/** Those of these tasks that are there, in the same order. */
export function* loadTasks(tx: Reads, ids: readonly string[]): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const id of ids) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) found.push(task)
  }
  return found
}
