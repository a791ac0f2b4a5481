// A task saved from outside by its state: made if it is not there, else walked along the edges of the table to where it is said
// to stand. It goes through the same steps as every verb, so no save is a way around the machine (conformance S0-094).

import type { TaskRecord } from '../entities/task.ts'
import { isSettled } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Step } from '../ledger/ledger.ts'
import { isByHand } from '../machines/readiness.ts'
import { acceptedEvents } from '../machines/task-machine.ts'
import { touched } from '../machines/task-transition.ts'
import { cancel } from './cancel.ts'
import { create, type TaskDraft, type TreeLimits } from './create.ts'
import { defaultSystemPrompt } from './draft.ts'
import { eventOf, type Moment } from './moment.ts'
import { update } from './update.ts'
import { answer, complete, fail, start } from './verbs.ts'

export interface SaveTaskRequest extends Moment {
  id: string
  /** Undefined: none for a new task, whatever it has for a known one. */
  parentId: string | undefined
  /** Undefined: the usual one for a new task, whatever it has for a known one. */
  systemPrompt: string | undefined
  outcome: SavedOutcome
  /** When a new one was created, in epoch milliseconds. */
  createdAt: number
  treeLimits: TreeLimits
}

/** `open`: it has not settled, wherever it stands. */
export type SavedOutcome = { status: 'open' | 'completed' | 'canceled' } | { status: 'failed'; reason: string | null }

interface Loaded {
  task: TaskRecord | undefined
  /** What its conversation opens with; undefined for one without such a line. */
  opening: string | undefined
}

/** The steps that lead there, in order; and the instructions that a known task is given. */
interface Verdict {
  steps: Step[]
  instructed: TaskRecord | undefined
}

/**
 * A new task has no executor: whoever saves it works on it, so it is WORKING by hand until it is saved as settled. A save that
 * changes nothing does nothing.
 *
 * @throws ErrandError INVALID_TRANSITION for a task that has settled otherwise, or whose executor decides; NOT_FOUND,
 *   PARENT_CLOSED for the parent; KEY_CONFLICT for another parent or the id of a deleted task; INVALID_INPUT for instructions
 *   that an agent has been given otherwise.
 */
export function saveTask(request: SaveTaskRequest): Step<void> {
  return inThree<Loaded, Verdict, void>({
    name: 'save task',
    *load(tx) {
      const [first] = yield* tx.message.page(request.id, 0, 1)
      return {
        task: yield* tx.task.get(request.id),
        opening: first?.role === 'system' ? first.content : undefined,
      }
    },
    judge({ task, opening }) {
      if (task === undefined) return { steps: stepsOfNew(request), instructed: undefined }
      requireSameTask(task, request)
      return { steps: stepsOfKnown(task, request), instructed: instructed(task, opening, request) }
    },
    *write(tx, { steps, instructed: task }): Op<void> {
      if (task !== undefined) {
        yield* tx.task.saveDefinition(task)
        yield* tx.event.append(eventOf(request, 'task.updated', task, { changed: ['systemPrompt'] }))
      }
      // A refusal in the middle takes back what was written before it.
      for (const step of steps) yield* step.decide(tx)
    },
  })
}

function stepsOfNew(request: SaveTaskRequest): Step[] {
  const { id, outcome, treeLimits } = request
  // It was created when its record says, but not later than now.
  const born = { ...request, at: Math.min(request.createdAt, request.at) }
  const made = create({ at: born.at, instanceId: request.instanceId, trees: [[draftOf(request)]], treeLimits })
  if (outcome.status === 'canceled') return [made, cancel(id, null, request)]
  return [made, start(id, request), ...stepsFromWorking(request)]
}

function stepsFromWorking(request: SaveTaskRequest): Step[] {
  const { id, outcome } = request
  switch (outcome.status) {
    case 'open':
      return []
    case 'completed':
      return [complete(id, null, undefined, request)]
    case 'failed':
      return [fail(id, { reason: outcome.reason ?? 'failed', code: 'TASK_FAILED' }, undefined, request)]
    case 'canceled':
      return [cancel(id, null, request)]
  }
}

function stepsOfKnown(task: TaskRecord, request: SaveTaskRequest): Step[] {
  const { outcome } = request
  if (isSettled(task.status)) {
    if (!standsSo(task, outcome)) throw settledOtherwise(task, outcome)
    return []
  }
  const ends = outcome.status === 'completed' || outcome.status === 'failed'
  return [...(ends ? stepsToWorking(task, request) : []), ...stepsFromWorking(request)]
}

/** Only what is worked on by hand is brought there: an executor's task ends where it stands, or the table refuses it. */
function stepsToWorking(task: TaskRecord, request: SaveTaskRequest): Step[] {
  if (task.status === 'working' || !isByHand(task)) return []
  if (task.status !== 'input_required') return [update(task.id, { status: 'working' }, undefined, request)]
  return [answer({ ...request, taskId: task.id, questionId: undefined, value: { given: null } })]
}

function standsSo(task: TaskRecord, outcome: SavedOutcome): boolean {
  if (task.status !== outcome.status) return false
  return outcome.status !== 'failed' || outcome.reason === null || outcome.reason === task.error?.message
}

function settledOtherwise(task: TaskRecord, outcome: SavedOutcome): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot save ${task.id} as ${outcome.status}: it is ${task.status}, and no save opens it again or ends it otherwise.${
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
        ? `its parent is ${task.parentId ?? 'nobody'}, and a save does not move it`
        : undefined
  if (why === undefined) return
  throw new ErrandError('KEY_CONFLICT', `Cannot save ${task.id}: ${why}. Save it under another id.`, {
    taskId: task.id,
  })
}

/** The task with other instructions; undefined when they stay. */
function instructed(
  task: TaskRecord,
  opening: string | undefined,
  { systemPrompt, at }: SaveTaskRequest,
): TaskRecord | undefined {
  if (systemPrompt === undefined || systemPrompt === (task.policy.systemPrompt ?? opening ?? defaultSystemPrompt))
    return undefined
  if (task.executor === null && opening === undefined)
    return touched(task, at, { policy: { ...task.policy, systemPrompt } })
  throw new ErrandError(
    'INVALID_INPUT',
    `Cannot give ${task.id} another systemPrompt: its agent was given one when its conversation began. Create a new task.`,
    { taskId: task.id },
  )
}

function draftOf({ id, parentId, systemPrompt }: SaveTaskRequest): TaskDraft {
  return {
    id,
    key: null,
    name: id,
    goal: null,
    description: '',
    executor: null,
    input: null,
    priority: 0,
    parentId: parentId ?? null,
    blockedBy: [],
    group: false,
    held: false,
    notBefore: null,
    deadline: null,
    role: null,
    tags: [],
    policy: systemPrompt === undefined ? {} : { systemPrompt },
    metadata: {},
    team: null,
    agentId: null,
    agentNamed: false,
    opening: [],
  }
}
