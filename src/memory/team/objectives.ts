// Objectives of a team's task. Each change is one event of the task, with agent and time, so that the log needs no table of its own.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { maxObjectives, type ObjectiveRecord, type ObjectiveStatus, objectiveStatuses } from '../../entities/team.ts'
import { everyRow } from '../../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import { eventOf, refusePurged, requestedBy, type StepContext } from '../../operations/steps/step-context.ts'
import type { MemoryHost } from '../memory-host.ts'
import { objectiveEventBetween } from './objective-machine.ts'
import { addObjectives, ensureTeam } from './team.ts'
import { loadOwn, loadShared } from './team-scope.ts'

/** The view of an objective; `id` counts from 1 within its task. */
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

/** A change of an objective. Undefined leaves a field unchanged, null removes it. */
export interface ObjectiveChange {
  status: ObjectiveStatus
  agentId?: string | null | undefined
  notes?: string | null | undefined
}

/**
 * Changes one objective and resolves to all objectives of the task.
 * @throws ErrandError NOT_FOUND { taskId, objectiveId, objectives } for an unknown objective.
 */
export async function updateObjective(
  host: MemoryHost,
  caller: Caller,
  request: { taskId: string; objectiveId: number } & ObjectiveChange,
): Promise<Objective[]> {
  const ctx = requestedBy(await host.stepContext(), caller)
  return host.step({
    name: 'update objective',
    *decide(tx): Op<Objective[]> {
      const task = yield* loadShared(tx, caller, request.taskId)
      yield* refusePurged(tx, task)
      const [objective] = yield* requireObjectives(tx, task, [request.objectiveId])
      yield* changeObjective(tx, task, objective as ObjectiveRecord, request, ctx)
      return (yield* tx.team.objectives(task.id)).map(toObjective)
    },
  })
}

/** Appends objectives and resolves to all objectives of the task. @throws ErrandError NOT_FOUND, INVALID_TRANSITION */
export async function appendObjectives(
  host: MemoryHost,
  caller: Caller,
  request: { taskId: string; descriptions: readonly string[] },
): Promise<Objective[]> {
  const { descriptions } = request
  const ctx = requestedBy(await host.stepContext(), caller)
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

function requireRoom({ id }: TaskRecord, count: number): void {
  if (count <= maxObjectives) return
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot give ${id} ${count} objectives: a task has at most ${maxObjectives}. Create child tasks for the rest.`,
    { taskId: id, limit: 'objectives', value: maxObjectives },
  )
}

/** @throws ErrandError INVALID_TRANSITION for a completed or canceled task, on which a team can no longer work. */
export function refuseFinal(task: TaskRecord, what: string): void {
  if (task.status !== 'completed' && task.status !== 'canceled') return
  throw new ErrandError(
    'INVALID_TRANSITION',
    `Cannot ${what} ${task.id}: it is ${task.status}, which is final. Create a new task for the remaining work; \`task:context\` shows the outcome of this one.`,
    { taskId: task.id, from: task.status, event: what.split(' ')[0], allowed: [] },
  )
}

/** The objectives with these numbers, in that order. @throws ErrandError NOT_FOUND with the existing numbers. */
export function* requireObjectives(tx: Reads, task: TaskRecord, numbers: readonly number[]): Op<ObjectiveRecord[]> {
  if (numbers.length === 0) return []
  const known = new Map((yield* tx.team.objectives(task.id)).map((each) => [each.number, each]))
  return numbers.map((number) => known.get(number) ?? refuseUnknown(task, number, [...known.keys()]))
}

function refuseUnknown({ id }: TaskRecord, number: number, known: readonly number[]): never {
  const has =
    known.length === 0
      ? 'the task has no objectives. Add some with `objective:add`'
      : `it has ${known.slice(0, 50).join(', ')}${known.length > 50 ? ', …' : ''}`
  throw new ErrandError('NOT_FOUND', `Objective ${number} not found on ${id}: ${has}.`, {
    taskId: id,
    objectiveId: number,
    objectives: [...known],
  })
}

/** Writes a change as a part of another step, if there is any. */
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
 * Updates the task's time of change, by which tasks are listed. Reads the row again, because this step may have changed it; works for a
 * deleted task, whose last agents still end.
 */
function* touch(tx: Tx, taskId: string, { at }: StepContext): Op<TaskRecord> {
  const task = touched((yield* tx.task.get(taskId)) as TaskRecord, at, {})
  yield* tx.task.save(task)
  return task
}

/** A change of an objective. `from` and `to` are equal if only its agent or notes changed. */
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

/** Returns the changes of one objective, or of all, oldest first. @throws ErrandError NOT_FOUND */
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
