// Objectives: what a team wants to reach, in parts. Each change is one event of the task, with the agent and the time, so that the
// log needs no table of its own (conformance S2-030).
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { checkText } from '../core/json.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { TaskRecord } from '../entities/task.ts'
import { maxObjectives, type ObjectiveRecord, type ObjectiveStatus, objectiveStatuses } from '../entities/team.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { objectiveEventBetween } from '../machines/lifecycles.ts'
import { touched } from '../machines/task-transition.ts'
import type { MemoryHost } from '../memory/memory-host.ts'
import { eventOf, requestedBy, type StepContext } from '../steps/step-context.ts'
import { addObjectives, ensureTeam } from '../steps/team.ts'
import { loadOwn, loadShared } from './team-scope.ts'

/** An objective as everybody sees it; `id` counts from 1 within its task. */
export interface Objective {
  id: number
  description: string
  status: ObjectiveStatus
  agentId: string | null
  notes: string | null
}

export function toObjective({ number, description, status, agentId, notes }: ObjectiveRecord): Objective {
  return { id: number, description, status, agentId, notes }
}

/** What changes of an objective. Undefined leaves a field as it is, null takes it away. */
export interface ObjectiveChange {
  status: ObjectiveStatus
  agentId?: string | null | undefined
  notes?: string | null | undefined
}

/**
 * Changes one objective; resolves to all of the task.
 * @throws ErrandError NOT_FOUND { taskId, objectiveId, objectives } for an unknown one, and for a task without any.
 */
export async function updateObjective(
  host: MemoryHost,
  caller: Caller,
  request: { taskId: string; objectiveId: number } & ObjectiveChange,
): Promise<Objective[]> {
  const ctx = requestedBy(await host.stepContext(), caller)
  if (request.agentId) checkText(request.agentId, 'the agent’s name')
  if (request.notes) checkText(request.notes, 'the notes')
  return host.step({
    name: 'update objective',
    *decide(tx): Op<Objective[]> {
      const task = yield* loadShared(tx, caller, request.taskId)
      const [objective] = yield* requireObjectives(tx, task, [request.objectiveId])
      yield* changeObjective(tx, task, objective as ObjectiveRecord, request, ctx)
      return (yield* tx.team.objectives(task.id)).map(toObjective)
    },
  })
}

/** Adds objectives after those that there are; resolves to all of the task. @throws ErrandError NOT_FOUND, INVALID_TRANSITION */
export async function appendObjectives(
  host: MemoryHost,
  caller: Caller,
  request: { taskId: string; descriptions: readonly string[] },
): Promise<Objective[]> {
  const ctx = requestedBy(await host.stepContext(), caller)
  const descriptions = request.descriptions.map((each) => checkText(each, 'an objective'))
  return host.step({
    name: 'add objectives',
    *decide(tx): Op<Objective[]> {
      const task = yield* loadOwn(tx, caller, request.taskId)
      refuseFinal(task, 'add objectives to')
      yield* ensureTeam(tx, task, ctx)
      const before = yield* tx.team.objectives(task.id)
      requireRoom(task, before.length + descriptions.length)
      yield* addObjectives(tx, task.id, descriptions, (before.at(-1)?.number ?? 0) + 1, ctx)
      const changed = { changed: ['objectives'], added: descriptions.length }
      yield* tx.event.append(eventOf(ctx, 'task.updated', yield* touch(tx, task.id, ctx), changed))
      return (yield* tx.team.objectives(task.id)).map(toObjective)
    },
  })
}

function requireRoom({ id }: TaskRecord, wanted: number): void {
  if (wanted <= maxObjectives) return
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot give ${id} ${wanted} objectives: a task has at most ${maxObjectives}. Make tasks below it of what does not fit.`,
    { taskId: id, limit: 'objectives', value: maxObjectives },
  )
}

/** @throws ErrandError INVALID_TRANSITION for a task that is over for good: a team works on it no more. */
export function refuseFinal(task: TaskRecord, what: string): void {
  if (task.status !== 'completed' && task.status !== 'canceled') return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot ${what} ${task.id}: it is ${task.status}, and that is final. Create a new task for what is left to do; \`task:context\` says what this one came to.`,
    { taskId: task.id, from: task.status, event: what.split(' ')[0], allowed: [] },
  )
}

/** The objectives of these numbers, in the order named. @throws ErrandError NOT_FOUND that says which there are. */
export function* requireObjectives(tx: Reads, task: TaskRecord, numbers: readonly number[]): Op<ObjectiveRecord[]> {
  if (numbers.length === 0) return []
  const known = new Map((yield* tx.team.objectives(task.id)).map((each) => [each.number, each]))
  return numbers.map((number) => known.get(number) ?? refuseUnknown(task, number, [...known.keys()]))
}

function refuseUnknown({ id }: TaskRecord, number: number, known: readonly number[]): never {
  const has =
    known.length === 0
      ? 'the task has no objectives. `objective:add` gives it some'
      : `it has ${known.slice(0, 50).join(', ')}${known.length > 50 ? ', …' : ''}`
  throw new ErrandError('NOT_FOUND', `Objective ${number} not found on ${id}: ${has}.`, {
    taskId: id,
    objectiveId: number,
    objectives: [...known],
  })
}

/** Writes one change as a part of another step, if it changes anything. */
export function* changeObjective(
  tx: Tx,
  task: TaskRecord,
  before: ObjectiveRecord,
  change: ObjectiveChange,
  ctx: StepContext,
): Op<void> {
  const after: ObjectiveRecord = {
    ...before,
    status: change.status,
    agentId: change.agentId === undefined ? before.agentId : change.agentId,
    notes: change.notes === undefined ? before.notes : change.notes,
    updatedAt: ctx.at,
  }
  const event = objectiveEventBetween(before.status, after.status)
  if (event === undefined && after.agentId === before.agentId && after.notes === before.notes) return
  yield* tx.team.saveObjective(after)
  yield* tx.event.append(
    eventOf(ctx, 'objective.updated', yield* touch(tx, task.id, ctx), {
      objectiveId: after.number,
      from: before.status,
      to: after.status,
      agentId: after.agentId,
      notes: after.notes,
    }),
  )
}

/**
 * Whoever lists tasks by change sees that something has happened. The row is read anew, for it may have changed in this step; also
 * that of a deleted task, whose last agents come to their end like any other.
 */
function* touch(tx: Tx, taskId: string, { at }: StepContext): Op<TaskRecord> {
  const task = touched((yield* tx.task.get(taskId)) as TaskRecord, at, {})
  yield* tx.task.save(task)
  return task
}

/** One change of an objective. `from` and `to` are the same where only its agent or its notes changed. */
export const objectiveChangeSchema = z.object({
  /** Epoch milliseconds. */
  at: z.number(),
  objectiveId: z.int(),
  from: z.enum(objectiveStatuses),
  to: z.enum(objectiveStatuses),
  agentId: z.string().nullable(),
  notes: z.string().nullable(),
})
type ObjectiveLogLine = z.output<typeof objectiveChangeSchema>

/** The changes of one objective, or of all, oldest first. @throws ErrandError NOT_FOUND */
export function objectiveLog(
  host: MemoryHost,
  caller: Caller,
  { taskId, objectiveId }: { taskId: string; objectiveId?: number | undefined },
): Promise<ObjectiveLogLine[]> {
  return host.read(function* (tx): Op<ObjectiveLogLine[]> {
    const task = yield* loadShared(tx, caller, taskId)
    if (objectiveId !== undefined) yield* requireObjectives(tx, task, [objectiveId])
    const changes = yield* everyRow(
      (after, limit) => tx.event.after(after, limit, taskId),
      ({ type }) => type === 'objective.updated',
    )
    const lines = changes.map(toLine)
    return objectiveId === undefined ? lines : lines.filter((line) => line.objectiveId === objectiveId)
  })
}

function toLine({ at, data }: TaskEvent): ObjectiveLogLine {
  const { objectiveId, from, to, agentId, notes } = data as Omit<ObjectiveLogLine, 'at'>
  return { at, objectiveId, from, to, agentId, notes }
}
