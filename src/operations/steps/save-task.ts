// Saves a task from outside by its state: creates it, or moves it along the edges of the table to the saved state. It uses the same steps
// as all verbs, so that no save bypasses the machine.
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { isSettled, noReason, type TaskRecord } from '../../entities/task.ts'
import { storedFrom } from '../../entities/task-fields.ts'
import { type Op, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { touched } from '../../machines/changed-task.ts'
import { isByHand } from '../../machines/readiness.ts'
import { acceptedEvents } from '../../machines/task-edges.ts'
import { defaultSystemPrompt } from '../drafts/agent-draft.ts'
import type { TaskDraft, TreeLimits } from '../drafts/draft.ts'
import { answer } from './answer.ts'
import { GivenAnswer } from './answer-schema.ts'
import { create } from './create.ts'
import { eventOf, refusePurged, type StepContext } from './step-context.ts'
import { cancel, complete, fail, start } from './task-lifecycle.ts'
import { update } from './update.ts'

export interface SaveTaskRequest extends StepContext {
  id: string
  /** Undefined: none for a new task; unchanged for a known one. */
  parentId: string | undefined
  /** Undefined: the default for a new task; unchanged for a known one. */
  systemPrompt: string | undefined
  outcome: SavedOutcome
  /** When a new task was created, in epoch milliseconds. */
  createdAt: number
  /** When the task was last changed according to the saved record. */
  updatedAt: number | undefined
  treeLimits: TreeLimits
  caller: Caller
}

/** `open`: not settled, in any state. */
export type SavedOutcome = { status: 'open' | 'completed' | 'canceled' } | { status: 'failed'; reason: string | null }

/**
 * Saves a task. A new task has no executor: the client works on it, so it is WORKING by hand until it is saved as settled. A save without
 * changes does nothing.
 *
 * @throws ErrandError INVALID_TRANSITION for a task that has settled otherwise, or whose executor decides its outcome; NOT_FOUND,
 *   PARENT_CLOSED for the parent; KEY_CONFLICT for another parent or the id of a deleted task; INVALID_INPUT for instructions that differ
 *   from those of its agent.
 */
export function saveTask(request: SaveTaskRequest): Step<void> {
  // A refusal in the middle undoes what was written before it.
  return step('save task', function* (tx) {
    const task = yield* tx.task.get(request.id)
    if (task === undefined) return yield* makeTask(tx, request)
    yield* refusePurged(tx, task)
    requireSameTask(task, request)
    const { outcome } = request
    const settled = isSettled(task.status)
    if (settled && !standsSo(task, outcome)) throw settledOtherwise(task, outcome)
    yield* instruct(tx, task, request)
    if (!settled) {
      if (outcome.status === 'completed' || outcome.status === 'failed') yield* walkToWorking(tx, task, request)
      yield* end(tx, request)
    }
    yield* keepTime(tx, task.updatedAt + 1, request, task.version)
  })
}

function* makeTask(tx: Tx, request: SaveTaskRequest): Op<void> {
  const { id, instanceId, treeLimits } = request
  // The time of creation is that of the record, but not later than now.
  const at = Math.min(request.createdAt, request.at)
  yield* create({ at, instanceId, trees: [[draftOf(request)]], treeLimits }).decide(tx)
  if (request.outcome.status !== 'canceled') yield* start(id, request).decide(tx)
  yield* end(tx, request)
  yield* keepTime(tx, at, request)
}

/** Keeps the time of the change of the record, unless it is earlier than what had happened by then. */
function* keepTime(tx: Tx, earliest: number, request: SaveTaskRequest, version?: number): Op<void> {
  const { id, updatedAt } = request
  if (updatedAt === undefined || updatedAt < earliest) return
  const task = (yield* tx.task.get(id)) as TaskRecord
  const kept = { ...task, updatedAt }
  yield* tx.task.saveDefinition(kept)
  // If the save changed nothing else, no other event reports it.
  if (task.version === version) {
    yield* tx.event.append(eventOf(request, 'task.updated', kept, { changed: ['updatedAt'] }))
  }
}

/** Only a task that is worked on by hand is moved: one with an executor ends in its state, or the table refuses it. */
function* walkToWorking(tx: Tx, task: TaskRecord, request: SaveTaskRequest): Op<void> {
  const { id: taskId, status } = task
  if (status === 'working' || !isByHand(task)) return
  yield* status === 'input_required'
    ? answer({ ...request, taskId, questionId: undefined, value: new GivenAnswer(null) }).decide(tx)
    : update(taskId, { status: 'working' }, undefined, request).decide(tx)
}

/** Ends the task in the saved state. */
function* end(tx: Tx, request: SaveTaskRequest): Op<void> {
  const { id, outcome } = request
  switch (outcome.status) {
    case 'open':
      return
    case 'completed':
      return yield* complete(id, null, undefined, request).decide(tx)
    case 'failed':
      return yield* fail(id, { reason: outcome.reason ?? noReason, code: 'TASK_FAILED' }, undefined, request).decide(tx)
    case 'canceled':
      return yield* cancel(id, null, request).decide(tx)
  }
}

function standsSo(task: TaskRecord, outcome: SavedOutcome): boolean {
  if (task.status !== outcome.status) return false
  return outcome.status !== 'failed' || outcome.reason === null || outcome.reason === task.error?.message
}

function settledOtherwise(task: TaskRecord, outcome: SavedOutcome): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot save ${task.id} as ${outcome.status}: it is ${task.status}, and a save can neither open it again nor change how it ended.${
      task.status === 'failed' ? ' `task:retry` gives it a new attempt.' : ''
    }`,
    { taskId: task.id, from: task.status, event: 'save', allowed: [...acceptedEvents(task.status)] },
  )
}

function requireSameTask(task: TaskRecord, { parentId }: SaveTaskRequest): void {
  const why =
    task.deletedAt !== null
      ? 'it was deleted, and ids are not used again'
      : parentId !== undefined && parentId !== task.parentId
        ? `its parent is ${task.parentId ?? 'none'}, and a save does not move it`
        : undefined
  if (why === undefined) return
  throw new ErrandError('KEY_CONFLICT', `Cannot save ${task.id}: ${why}. Save it under another id.`, {
    taskId: task.id,
  })
}

/** Changes the instructions of the task, if they differ. */
function* instruct(tx: Tx, task: TaskRecord, request: SaveTaskRequest): Op<void> {
  const { systemPrompt } = request
  if (systemPrompt === undefined) return
  const [first] = (yield* tx.message.page(task.id, 0, 1)).rows
  const opening = first?.role === 'system' ? first.content : undefined
  if (systemPrompt === (task.policy.systemPrompt ?? opening ?? defaultSystemPrompt)) return
  if (task.executor !== null || opening !== undefined) {
    throw new ErrandError(
      'INVALID_INPUT',
      `Cannot give ${task.id} another systemPrompt: its agent was given one when its conversation began. Create a new task.`,
      { taskId: task.id },
    )
  }
  const instructed = touched(task, request.at, { policy: { ...task.policy, systemPrompt } })
  yield* tx.task.saveDefinition(instructed)
  yield* tx.event.append(eventOf(request, 'task.updated', instructed, { changed: ['systemPrompt'] }))
}

function draftOf({ id, parentId, systemPrompt }: SaveTaskRequest): TaskDraft {
  return {
    ...storedFrom({ name: id, parentId: parentId ?? null }),
    id,
    blockedBy: [],
    group: false,
    held: false,
    policy: systemPrompt === undefined ? {} : { systemPrompt },
    team: null,
    agentId: null,
    agentNamed: false,
    delayMs: 0,
    runsCommands: false,
    opening: [],
  }
}
