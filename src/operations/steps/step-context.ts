// The context of a step (when, and who requested it), so that judging needs no clock. And what many steps begin with: the task, or a
// refusal.
import { type Caller, requesterOf } from '../../bus/caller.ts'
import { briefError, ErrandError, type StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { EventType, Requester } from '../../entities/event.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { LiveTask, NewEvent, NewMessage, NewTask, Op, Reads, Tx } from '../../ledger/ledger.ts'
import { isQueued } from '../../machines/readiness.ts'
import type { TeamSpec } from '../drafts/agent-draft.ts'

export interface StepContext {
  /** Epoch milliseconds. */
  at: number
  instanceId: string
  /** The client that requested the change; absent: the program of the engine itself. */
  requester?: Requester
  /** What teams add to the step; absent: the engine has no memory. */
  teams?: TeamSteps
}

/** What the teams of the wing of memory add to steps of the core, in their transactions, so that no task of a team is without its rows. */
export interface TeamSteps {
  /** Refuses branches that the caller may not merge into. @throws ErrandError FORBIDDEN, NOT_FOUND */
  requireBranches(tx: Reads, caller: Caller, branches: readonly string[]): Op<void>
  /** A task is created with a team of its own, or `later`: only with the branch of one. */
  created(tx: Tx, task: NewTask, team: TeamSpec | 'later', ctx: StepContext): Op<void>
  /** The run of a member starts. Returns its task, with its name in the team. */
  started(tx: Tx, task: TaskRecord, ctx: StepContext): Op<TaskRecord>
  /** A call of a member has ended or was interrupted. */
  callEnded(tx: Tx, task: EventTask, call: CallRecord, ctx: StepContext): Op<void>
  /** The model of a member has answered. */
  answered(tx: Tx, task: EventTask, message: NewMessage, ctx: StepContext): Op<void>
}

/** @throws ErrandError INVALID_INPUT for an engine without memory. */
export function requireTeams({ teams }: StepContext): TeamSteps {
  if (teams !== undefined) return teams
  throw new ErrandError(
    'INVALID_INPUT',
    'This engine is composed without memory, so a task has neither a team nor a branch. Leave out `team` and the fields of a team.',
  )
}

/** Adds the requester to the context: all events of the step record it. */
export function requestedBy<M extends StepContext>(ctx: M, caller: Caller): M {
  const requester = requesterOf(caller)
  return requester === undefined ? ctx : { ...ctx, requester }
}

/** The host for one caller: its step contexts record the requester. */
export function onBehalfOf<H extends { stepContext(): Promise<StepContext> }>(host: H, caller: Caller): H {
  return { ...host, stepContext: async () => requestedBy(await host.stepContext(), caller) }
}

const latestDate = 8.64e15

/** When a delay ends. Rounded up to whole milliseconds, as the tables store them, so that it is never too early. */
export function dueAfter(at: number, delayMs: number): number {
  return Math.min(Math.ceil(at + delayMs), latestDate)
}

/** What an event says about its task. */
export type EventTask = NewTask | LiveTask

/** An event about a task in its state after the step. `ready` is set when the task is queued, `team` when it works in a team. */
export function eventOf(
  ctx: StepContext,
  type: EventType,
  task: EventTask,
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
      ...(task.status !== 'working' && isQueued(task) ? { ready: true } : {}),
      ...('system' in task && task.system ? { system: true } : {}),
      ...(task.policy.team === undefined ? {} : { team: task.policy.team.taskId }),
      ...(ctx.requester === undefined ? {} : { requestedBy: ctx.requester }),
      ...data,
      // The stack stays in the row: every subscriber and every surface receives events, and a model may read them.
      ...(data.error ? { error: briefError(data.error as StoredError) } : {}),
    },
  }
}

/** The stored task, or a refusal. A deleted task is reported as unknown. */
export function requireTask(task: TaskRecord | undefined, id: string): TaskRecord {
  if (task !== undefined && task.deletedAt === null) return task
  throw new ErrandError('NOT_FOUND', `Task not found: ${id}. \`list\` shows the tasks that exist.`, { taskId: id })
}

/** Loads a task. @throws ErrandError NOT_FOUND */
export function* loadTask(tx: Reads, id: string): Op<TaskRecord> {
  return requireTask(yield* tx.task.get(id), id)
}

/**
 * Loads a task that a step changes, or on which it lets others depend.
 * @throws ErrandError NOT_FOUND, PURGED
 */
export function* loadToChange(tx: Reads, id: string): Op<TaskRecord> {
  const task = yield* loadTask(tx, id)
  yield* refusePurged(tx, task)
  return task
}

/** Whether the task is being purged with its family. Only settled families are, so an open task costs no read. */
export function* isPurged(tx: Reads, { id, completedAt }: NewTask): Op<boolean> {
  return completedAt !== null && (yield* tx.purge.includes(id))
}

/** @throws ErrandError PURGED: a part of its family has already left the ledger, so nothing of it may live again. */
export function* refusePurged(tx: Reads, task: TaskRecord): Op<void> {
  if (yield* isPurged(tx, task)) throw beingPurged(task)
}

export function beingPurged({ id }: TaskRecord): ErrandError {
  return new ErrandError(
    'PURGED',
    `${id} cannot be changed, and nothing can be added below it or come after it: a purge is removing its family. Create a new task; the keys of the family are free.`,
    { taskId: id },
  )
}

/** The refusal of a change for which all blockers of the task must be completed. */
export function blocked(what: string, blockedBy: readonly string[], details: object): ErrandError {
  const message = `Cannot ${what}: it comes after ${blockedBy.join(', ')}, which must be completed first.`
  return new ErrandError('BLOCKED', message, { ...details, blockedBy })
}

/** Returns those of these tasks that exist, in the same order. */
export function* loadTasks(tx: Reads, ids: readonly string[]): Op<TaskRecord[]> {
  const found: TaskRecord[] = []
  for (const id of ids) {
    const task = yield* tx.task.get(id)
    if (task !== undefined) found.push(task)
  }
  return found
}
