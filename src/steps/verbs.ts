// The verbs of a task: start, pause, resume, complete, fail, retry, answer. Each is one edge of the table, or is refused.

import type { CallRecord } from '../entities/call.ts'
import type { QuestionParams } from '../entities/question.ts'
import type { TaskPolicy, TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { type Quote, requireOwner } from '../machines/ownership.ts'
import { isByHand } from '../machines/readiness.ts'
import { nextStatus, requireTransition, type TaskEventName } from '../machines/task-machine.ts'
import { touched } from '../machines/task-transition.ts'
import { checkAnswer } from './answer-schema.ts'
import { belowCanceled, canceledAbove } from './canceled-above.ts'
import { futureDeadline } from './groups-above.ts'
import { eventOf, loadTask, type Moment } from './moment.ts'
import { transition, transitionAll } from './transition.ts'
import type { Edge } from './walk.ts'

/** SUBMITTED: with an executor it may compete for a slot; without one it is WORKING by hand; a group lets its children go. */
export function start(id: string, moment: Moment): Step<void> {
  return {
    name: 'start',
    *decide(tx): Op<void> {
      const task = yield* loadFree(tx, id, 'start')
      requireTransition(task, 'start')
      if (task.group || task.executor !== null) {
        yield* release(tx, task, moment)
        for (const child of task.group ? yield* tx.task.subtree(id) : []) {
          if (child.status === 'submitted') yield* release(tx, child, moment)
        }
        return
      }
      yield* transition(tx, task, 'start', moment, { set: { held: false, notBefore: null } })
    },
  }
}

/**
 * Loads a task that an event is to move on.
 * @throws ErrandError NOT_FOUND; BLOCKED { blockedBy } for one that is worked on by hand and would go on by this event
 */
export function* loadFree(tx: Reads, id: string, event: TaskEventName): Op<TaskRecord> {
  const task = yield* loadTask(tx, id)
  if (task.openBlockers === 0 || !isByHand(task) || nextStatus(task.status, event) === undefined) return task
  const blockedBy = yield* tx.dependency.openBlockers(id)
  throw new ErrandError(
    'BLOCKED',
    `Cannot ${event} ${id}: it comes after ${blockedBy.join(', ')}, which must be completed first.`,
    { taskId: id, blockedBy },
  )
}

function* release(tx: Tx, task: TaskRecord, moment: Moment): Op<void> {
  if (!task.held) return
  const free = touched(task, moment.at, { held: false })
  yield* tx.task.save(free)
  yield* tx.event.append(eventOf(moment, 'task.updated', free, { changed: ['held'] }))
}

/** SUBMITTED tasks of these executors that only `autoStart: false` holds back may now start; their ids. */
export function startHeld(executors: readonly string[], moment: Moment): Step<string[]> {
  return {
    name: 'schedule',
    *decide(tx): Op<string[]> {
      const ids: string[] = []
      for (const executor of executors) {
        for (const task of yield* tx.task.list({ statuses: ['submitted'], executor }, 1_000_000)) {
          if (!task.ready && !(task.held && task.openBlockers === 0 && task.notBefore === null)) continue
          yield* release(tx, task, moment)
          ids.push(task.id)
        }
      }
      return ids
    },
  }
}

/** WORKING: its run ends. PAUSED and resumed, but not running yet: the resume is withdrawn. */
export function pause(id: string, moment: Moment): Step<void> {
  return {
    name: 'pause',
    *decide(tx): Op<void> {
      const task = yield* loadTask(tx, id)
      const { status: from } = task
      // Resumed and still queued: no edge is walked, the resume is withdrawn.
      if (from === 'paused' && !task.held) {
        const held = touched(task, moment.at, { held: true })
        yield* tx.task.save(held)
        return void (yield* tx.event.append(eventOf(moment, 'task.paused', held, { from, withdrawn: 'resume' })))
      }
      yield* transition(tx, task, 'pause', moment, { set: { held: true } })
    },
  }
}

/** PAUSED: ready as soon as its last run is closed; without an executor WORKING at once. */
export function resume(id: string, moment: Moment): Step<void> {
  return {
    name: 'resume',
    *decide(tx): Op<void> {
      const task = yield* loadFree(tx, id, 'resume')
      requireTransition(task, 'resume')
      if (task.executor !== null) {
        if (!task.held) throw resumedAlready(task)
        const queued = touched(task, moment.at, { held: false })
        yield* tx.task.save(queued)
        return void (yield* tx.event.append(eventOf(moment, 'task.resumed', queued)))
      }
      yield* goOnByHand(tx, task, 'resume', moment, { set: { held: false } })
    },
  }
}

/** Its owner let go of it, or was lost, while it rested. */
function leftBehind(task: TaskRecord): string | null {
  return task.owner === null && (task.statusReason === 'released' || task.statusReason === 'interrupted')
    ? task.statusReason
    : null
}

/** A task that is worked on by hand is WORKING again. One that was left behind meanwhile waits for the next claim at once. */
function* goOnByHand(tx: Tx, task: TaskRecord, event: 'resume' | 'answer', moment: Moment, edge: Edge): Op<void> {
  const reason = leftBehind(task)
  const working = yield* transition(tx, task, event, moment, { ...edge, passing: reason !== null })
  if (reason !== null) yield* transition(tx, working, 'wait', moment, { set: { statusReason: reason } })
}

export function complete(id: string, result: unknown, quote: Quote | undefined, moment: Moment): Step<void> {
  return end(id, 'complete', { result, error: null }, quote, moment)
}

/** An explicit failure is final: no retry policy is asked. */
export function fail(
  id: string,
  { reason, code }: { reason: string; code: string },
  quote: Quote | undefined,
  moment: Moment,
): Step<void> {
  return end(id, 'fail', { statusReason: reason, error: { code, message: reason } }, quote, moment)
}

/** By the owner, where there is one. */
function end(
  id: string,
  event: 'complete' | 'fail',
  outcome: Partial<Pick<TaskRecord, 'result' | 'statusReason' | 'error'>>,
  quote: Quote | undefined,
  moment: Moment,
): Step<void> {
  return {
    name: event,
    *decide(tx): Op<void> {
      const working = yield* loadTask(tx, id)
      requireOwner(working, quote)
      const data = event === 'complete' ? { by: working.owner ?? 'verb' } : {}
      yield* transition(tx, working, event, moment, { set: outcome, data })
    },
  }
}

/** FAILED → SUBMITTED. A group tries its failed children again. `divergence` holds until the next retry by hand. */
export function retry(id: string, moment: Moment, divergence?: TaskPolicy['divergence']): Step<void> {
  return {
    name: 'retry',
    *decide(tx): Op<void> {
      const task = yield* loadTask(tx, id)
      requireTransition(task, 'retry')
      const canceled = yield* canceledAbove(tx, id)
      if (canceled) throw belowCanceled(`retry ${id}`, canceled, task.parentId)
      const failed = [task, ...(task.group ? yield* failedIn(tx, id) : [])]
      yield* transitionAll(tx, failed, 'retry', moment, (each) => newAttempt(each, moment, divergence))
    },
  }
}

/** What failed in a group, except below what was canceled. */
function* failedIn(tx: Reads, groupId: string): Op<TaskRecord[]> {
  const below = new Map((yield* tx.task.subtree(groupId)).map((task) => [task.id, task]))
  const isBelowCanceled = ({ parentId }: TaskRecord): boolean => {
    const parent = below.get(parentId as string)
    return parent !== undefined && (parent.status === 'canceled' || isBelowCanceled(parent))
  }
  return [...below.values()].filter((task) => task.status === 'failed' && !isBelowCanceled(task))
}

function newAttempt(failed: TaskRecord, { at }: Moment, divergence: TaskPolicy['divergence']): Edge {
  const { divergence: _earlier, ...policy } = failed.policy
  const chosen = divergence === undefined ? {} : { divergence }
  return {
    set: {
      attempt: failed.attempt + 1,
      error: null,
      result: null,
      wakes: 0,
      crashes: 0,
      held: false,
      notBefore: null,
      policy: { ...policy, ...chosen },
      // A new attempt is anybody's.
      owner: null,
      leaseMs: null,
      deadline: futureDeadline(failed, at),
    },
    data: { by: 'verb', ...chosen },
  }
}

/** Saves both what a task was told to be and how it stands. */
export function* saveWhole(tx: Tx, task: TaskRecord): Op<void> {
  // Readiness rests on columns of both statements, so only the second returns it.
  yield* tx.task.saveDefinition({ ...task, ready: false, claimable: false })
  yield* tx.task.save(task)
}

export interface AnswerRequest extends Moment {
  taskId: string
  /** Absent: the question's default. */
  value?: { given: unknown }
  questionId: string | undefined
  /** A model answers: not what is meant for people only. */
  byModel?: boolean
}

/** INPUT_REQUIRED: the last open answer makes it ready; without an executor it is WORKING at once. */
export function answer(request: AnswerRequest): Step<void> {
  return {
    name: 'answer',
    *decide(tx): Op<void> {
      const { taskId, at } = request
      const task = yield* loadFree(tx, taskId, 'answer')
      requireTransition(task, 'answer')
      const questions = (yield* tx.call.open(taskId)).filter((entry) => entry.kind === 'ask')
      const question = chooseQuestion(task, questions, request.questionId)
      if (request.byModel) requireForModels(task, question)
      const result = valueFor(task, question, request.value)
      const isLast = questions.length <= 1
      if (question !== null) {
        yield* tx.call.save({ ...question, status: 'completed', result, dueAt: null, updatedAt: at })
      }
      const answered = { ...(question === null ? {} : { questionId: question.id }), answer: result }
      if (isLast && task.executor === null) {
        const cause = { type: 'task.answered' as const, data: () => answered }
        return yield* goOnByHand(tx, task, 'answer', request, { cause })
      }
      const next = touched(task, at, isLast ? { wakes: task.wakes + 1 } : {})
      yield* tx.task.save(next)
      yield* tx.event.append(eventOf(request, 'task.answered', next, answered))
    },
  }
}

/** Null: a task that is worked on by hand asks by its state alone. */
function chooseQuestion(
  task: TaskRecord,
  questions: readonly CallRecord[],
  questionId: string | undefined,
): CallRecord | null {
  const meant = questionId === undefined ? questions : questions.filter(({ id }) => id === questionId)
  const [question] = meant
  if (question !== undefined && meant.length === 1) return question
  const ids = questions.map(({ id }) => id)
  const refusal = (why: string, data = {}) =>
    new ErrandError('NO_QUESTION', `${task.id} has ${why}.`, { taskId: task.id, ...data, questions: ids })
  if (questionId !== undefined) {
    throw refusal(`no open question ${questionId}. Open: ${ids.join(', ') || 'none'}`, { question: questionId })
  }
  if (questions.length > 0) {
    const texts = questions.map(({ id, params }) => `${id} ("${(params as QuestionParams).question}")`)
    throw refusal(`${ids.length} open questions. Name one with { question: id }: ${texts.join(', ')}`)
  }
  if (task.executor !== null) throw refusal('been answered already and goes on as soon as a slot is free')
  return null
}

function requireForModels(task: TaskRecord, question: CallRecord | null): void {
  if (question === null || !(question.params as QuestionParams).personOnly) return
  throw new ErrandError(
    'FORBIDDEN',
    `Question ${question.id} of ${task.id} is put to people: no model answers it. Let it wait, or ask one.`,
    { taskId: task.id, question: question.id },
  )
}

function valueFor(task: TaskRecord, question: CallRecord | null, value: AnswerRequest['value']): unknown {
  const params = question?.params as QuestionParams | undefined
  if (value === undefined) {
    if (params !== undefined && 'default' in params) return params.default
    throw new ErrandError('INVALID_ANSWER', `${task.id} needs an answer: its question has no default.`, {
      taskId: task.id,
    })
  }
  if (params?.schema !== undefined && params.schema !== null) checkAnswer(task.id, params, value.given)
  return value.given
}

/** A second resume would be lost on whoever gave it: the first is still on its way to a slot. */
function resumedAlready(task: TaskRecord): ErrandError {
  return new ErrandError(
    'INVALID_TRANSITION',
    `Cannot resume ${task.id}: it has been resumed already and is queued. \`pause\` withdraws that.`,
    { taskId: task.id, from: 'paused', event: 'resume', allowed: ['pause', 'cancel'] },
  )
}
