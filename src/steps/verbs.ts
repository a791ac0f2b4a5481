// The verbs of a task: start, pause, resume, complete, fail, retry, answer. Each is one edge of the table, or is refused.

import type { CallRecord } from '../entities/call.ts'
import type { QuestionParams } from '../entities/question.ts'
import type { TaskPolicy, TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import { inThree } from '../ledger/in-three.ts'
import type { Op, Reads, Step, Tx } from '../ledger/ledger.ts'
import { type Quote, requireOwner } from '../machines/ownership.ts'
import { isByHand } from '../machines/readiness.ts'
import { nextStatus, requireTransition, type TaskEventName } from '../machines/task-machine.ts'
import { moved, touched } from '../machines/task-transition.ts'
import { checkAnswer } from './answer-schema.ts'
import { endRun } from './end-run.ts'
import { closeEntries, endedWith, isIdle } from './journal-closing.ts'
import { eventOf, loadTask, type Moment } from './moment.ts'
import {
  futureDeadline,
  reviveGroupsAbove,
  settleBlockers,
  settleByChildren,
  settleFamily,
  startGroupsAbove,
} from './settle-family.ts'

/** SUBMITTED: with an executor it may compete for a slot; without one it is WORKING by hand; a group lets its children go. */
export function start(id: string, moment: Moment): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'start',
    load: (tx) => loadFree(tx, id, 'start'),
    judge(task) {
      requireTransition(task, 'start')
      return task
    },
    *write(tx, task): Op<void> {
      if (task.group) {
        yield* release(tx, task, moment)
        for (const child of yield* tx.task.subtree(id)) {
          if (child.status === 'submitted' && child.held) yield* release(tx, child, moment)
        }
        return
      }
      if (task.executor !== null) return yield* release(tx, task, moment)
      const working = moved(task, 'start', moment.at, { held: false, notBefore: null })
      yield* tx.task.save(working)
      yield* tx.event.append(eventOf(moment, 'task.started', working, { from: task.status, attempt: task.attempt }))
      yield* startGroupsAbove(tx, working, moment)
      yield* settleByChildren(tx, id, moment)
    },
  })
}

/** @throws ErrandError BLOCKED { blockedBy } for a task that is worked on by hand and would go on by this event. */
export function* refuseBlocked(tx: Reads, task: TaskRecord, event: TaskEventName): Op<void> {
  if (task.openBlockers === 0 || !isByHand(task) || nextStatus(task.status, event) === undefined) return
  const blockedBy = yield* tx.dependency.openBlockers(task.id)
  throw new ErrandError(
    'BLOCKED',
    `Cannot ${event} ${task.id}: it comes after ${blockedBy.join(', ')}, which must be completed first.`,
    { taskId: task.id, blockedBy },
  )
}

/** Loads a task that an event moves on by hand, if nothing is in its way. */
function* loadFree(tx: Reads, id: string, event: TaskEventName): Op<TaskRecord> {
  const task = yield* loadTask(tx, id)
  yield* refuseBlocked(tx, task, event)
  return task
}

function* release(tx: Tx, task: TaskRecord, moment: Moment): Op<void> {
  if (!task.held) return
  const free = touched(task, moment.at, { held: false })
  yield* tx.task.save(free)
  yield* tx.event.append(eventOf(moment, 'task.updated', free, { changed: ['held'] }))
}

/** SUBMITTED tasks of these executors that only `autoStart: false` holds back may now start; their ids. */
export function startHeld(executors: readonly string[], moment: Moment): Step<string[]> {
  return inThree<TaskRecord[], TaskRecord[], string[]>({
    name: 'schedule',
    *load(tx) {
      const found: TaskRecord[] = []
      for (const executor of executors)
        found.push(...(yield* tx.task.list({ statuses: ['submitted'], executor }, 1_000_000)))
      return found
    },
    judge: (tasks) =>
      tasks.filter((task) => task.ready || (task.held && task.openBlockers === 0 && task.notBefore === null)),
    *write(tx, tasks): Op<string[]> {
      for (const task of tasks) yield* release(tx, task, moment)
      return tasks.map((task) => task.id)
    },
  })
}

/** WORKING: its run ends. PAUSED and resumed, but not running yet: the resume is withdrawn. */
export function pause(id: string, moment: Moment): Step<void> {
  return inThree<TaskRecord, { from: TaskRecord['status']; task: TaskRecord }, void>({
    name: 'pause',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      // Resumed and still queued: no edge is walked, the resume is withdrawn.
      if (task.status === 'paused' && !task.held)
        return { from: task.status, task: touched(task, moment.at, { held: true }) }
      return { from: task.status, task: moved(task, 'pause', moment.at, { held: true }) }
    },
    *write(tx, { from, task }): Op<void> {
      if (from === 'working') yield* endRun(tx, task, 'paused', moment)
      yield* tx.task.save(task)
      yield* tx.event.append(
        from === 'working'
          ? eventOf(moment, 'task.paused', task, { from, run: task.run })
          : eventOf(moment, 'task.paused', task, { from, withdrawn: 'resume' }),
      )
    },
  })
}

/** PAUSED: ready as soon as its last run is closed; without an executor WORKING at once. */
export function resume(id: string, moment: Moment): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'resume',
    load: (tx) => loadFree(tx, id, 'resume'),
    judge(task) {
      requireTransition(task, 'resume')
      if (task.executor !== null) {
        if (!task.held) throw resumedAlready(task)
        return touched(task, moment.at, { held: false })
      }
      return moved(task, 'resume', moment.at, { held: false, statusReason: leftBehind(task) })
    },
    *write(tx, task): Op<void> {
      yield* tx.task.save(task)
      if (task.status === 'working') yield* goOnByHand(tx, task, 'paused', moment)
      else yield* tx.event.append(eventOf(moment, 'task.resumed', task))
    },
  })
}

/** Its owner let go of it, or was lost, while it rested. */
function leftBehind(task: TaskRecord): string | null {
  return task.owner === null && (task.statusReason === 'released' || task.statusReason === 'interrupted')
    ? task.statusReason
    : null
}

/** A task that is worked on by hand is WORKING again. One that was left behind meanwhile waits for the next claim at once. */
function* goOnByHand(tx: Tx, task: TaskRecord, from: TaskRecord['status'], moment: Moment): Op<void> {
  yield* tx.event.append(eventOf(moment, 'task.started', task, { from, attempt: task.attempt }))
  const reason = leftBehind(task)
  if (reason === null) return yield* settleByChildren(tx, task.id, moment)
  const free = moved(task, 'wait', moment.at, { statusReason: reason })
  yield* tx.task.save(free)
  yield* tx.event.append(eventOf(moment, 'task.waiting', free, { from: 'working', run: free.run, reason }))
}

/** By the owner, where there is one. */
export function complete(id: string, result: unknown, quote: Quote | undefined, moment: Moment): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'complete',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      requireOwner(task, quote)
      return moved(task, 'complete', moment.at, { result, error: null })
    },
    *write(tx, task): Op<void> {
      yield* endRun(tx, task, 'completed', moment)
      yield* closeEntries(tx, task, isIdle, () => endedWith(task), moment)
      yield* tx.task.save(task)
      yield* tx.event.append(
        eventOf(moment, 'task.completed', task, { from: 'working', run: task.run, by: task.owner ?? 'verb' }),
      )
      yield* settleFamily(tx, [task], moment)
    },
  })
}

/** An explicit failure is final: no retry policy is asked. By the owner, where there is one. */
export function fail(
  id: string,
  { reason, code }: { reason: string; code: string },
  quote: Quote | undefined,
  moment: Moment,
): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'fail',
    load: (tx) => loadTask(tx, id),
    judge(task) {
      requireOwner(task, quote)
      return moved(task, 'fail', moment.at, { statusReason: reason, error: { code, message: reason } })
    },
    *write(tx, task): Op<void> {
      yield* endRun(tx, task, 'failed', moment, task.error)
      yield* closeEntries(tx, task, isIdle, () => endedWith(task), moment)
      yield* tx.task.save(task)
      yield* tx.event.append(
        eventOf(moment, 'task.failed', task, { from: 'working', run: task.run, error: task.error, willRetry: false }),
      )
      yield* settleFamily(tx, [task], moment)
    },
  })
}

/** FAILED → SUBMITTED. A group tries its failed children again. `divergence` holds until the next retry by hand. */
export function retry(id: string, moment: Moment, divergence?: TaskPolicy['divergence']): Step<void> {
  return inThree<TaskRecord, TaskRecord, void>({
    name: 'retry',
    load: (tx) => loadTask(tx, id),
    judge: (task) => retried(task, moment, divergence),
    *write(tx, task): Op<void> {
      yield* writeRetried(tx, task, moment)
      yield* reviveGroupsAbove(tx, task, moment)
      if (!task.group) return yield* settleBlockers(tx, id, moment)
      const failed = (yield* tx.task.subtree(id)).filter((child) => child.status === 'failed')
      for (const child of failed) yield* writeRetried(tx, retried(child, moment, divergence), moment)
      // Only now that all are open: one that failed with them is tried again before those that come after it.
      for (const { id } of [task, ...failed]) yield* settleBlockers(tx, id, moment)
      // With nothing left to try (its children were canceled) it ends again at once.
      yield* settleByChildren(tx, id, moment)
    },
  })
}

function retried(task: TaskRecord, moment: Moment, divergence: TaskPolicy['divergence']): TaskRecord {
  const { divergence: _earlier, ...policy } = task.policy
  return moved(task, 'retry', moment.at, {
    attempt: task.attempt + 1,
    error: null,
    result: null,
    wakes: 0,
    crashes: 0,
    held: false,
    notBefore: null,
    policy: divergence === undefined ? policy : { ...policy, divergence },
    // A new attempt is anybody's.
    owner: null,
    leaseMs: null,
    deadline: futureDeadline(task, moment.at),
  })
}

function* writeRetried(tx: Tx, task: TaskRecord, moment: Moment): Op<void> {
  // Readiness rests on columns of both statements, so only the second returns it.
  yield* tx.task.saveDefinition({ ...task, ready: false, claimable: false })
  yield* tx.task.save(task)
  yield* tx.dependency.reopenWaits(task.id)
  yield* tx.event.append(
    eventOf(moment, 'task.retried', task, {
      from: 'failed',
      attempt: task.attempt,
      by: 'verb',
      ...(task.policy.divergence === undefined ? {} : { divergence: task.policy.divergence }),
    }),
  )
}

export interface AnswerRequest extends Moment {
  taskId: string
  /** Absent: the question's default. */
  value?: { given: unknown }
  questionId: string | undefined
  /** A model answers: not what is meant for people only. */
  byModel?: boolean
}

interface AnswerLoaded {
  task: TaskRecord
  questions: CallRecord[]
}

interface AnswerVerdict {
  task: TaskRecord
  question: CallRecord | null
  value: unknown
}

/** INPUT_REQUIRED: the last open answer makes it ready; without an executor it is WORKING at once. */
export function answer(request: AnswerRequest): Step<void> {
  return inThree<AnswerLoaded, AnswerVerdict, void>({
    name: 'answer',
    *load(tx): Op<AnswerLoaded> {
      const task = yield* loadFree(tx, request.taskId, 'answer')
      return { task, questions: (yield* tx.call.open(task.id)).filter((entry) => entry.kind === 'ask') }
    },
    judge({ task, questions }) {
      requireTransition(task, 'answer')
      const question = chooseQuestion(task, questions, request.questionId)
      if (request.byModel) requireForModels(task, question)
      const value = valueFor(task, question, request.value)
      const left = questions.length - (question === null ? 0 : 1)
      if (task.executor === null && left === 0) {
        return { task: moved(task, 'answer', request.at, { statusReason: leftBehind(task) }), question, value }
      }
      return { task: touched(task, request.at, left === 0 ? { wakes: task.wakes + 1 } : {}), question, value }
    },
    *write(tx, { task, question, value }): Op<void> {
      if (question !== null) {
        yield* tx.call.save({ ...question, status: 'completed', result: value, dueAt: null, updatedAt: request.at })
      }
      yield* tx.task.save(task)
      yield* tx.event.append(
        eventOf(request, 'task.answered', task, {
          ...(question === null ? {} : { questionId: question.id }),
          answer: value,
        }),
      )
      if (task.status === 'working') yield* goOnByHand(tx, task, 'input_required', request)
    },
  })
}

function chooseQuestion(
  task: TaskRecord,
  questions: readonly CallRecord[],
  questionId: string | undefined,
): CallRecord | null {
  if (questionId === undefined) {
    if (questions.length === 1) return questions[0] as CallRecord
    // A task that is worked on by hand asks by its state alone.
    if (questions.length === 0 && task.executor === null) return null
    if (questions.length === 0) {
      throw new ErrandError(
        'NO_QUESTION',
        `${task.id} has been answered already and goes on as soon as a slot is free.`,
        { taskId: task.id, questions: [] },
      )
    }
    throw new ErrandError(
      'NO_QUESTION',
      `${task.id} has ${questions.length} open questions. Name one with { question: id }: ${questions.map((each) => `${each.id} ("${(each.params as QuestionParams).question}")`).join(', ')}.`,
      { taskId: task.id, questions: questions.map((each) => each.id) },
    )
  }
  const found = questions.find((each) => each.id === questionId)
  if (found) return found
  throw new ErrandError(
    'NO_QUESTION',
    `${task.id} has no open question ${questionId}. Open: ${questions.map((each) => each.id).join(', ') || 'none'}.`,
    { taskId: task.id, question: questionId, questions: questions.map((each) => each.id) },
  )
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
