// Answer: completes an open question of a task and records who answered. Questions put to people are answered by people only. After the
// last answer the task goes on.

import { type Caller, recordedCaller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { CallRecord, CallStatus } from '../../entities/call.ts'
import type { QuestionParams } from '../../entities/question.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type Step, step } from '../../ledger/ledger.ts'
import { decideQuestion } from '../../machines/question-machine.ts'
import { requireTransition } from '../../machines/task-edges.ts'
import { amend } from './amend.ts'
import type { GivenAnswer } from './answer-schema.ts'
import { endRace } from './race.ts'
import { requireAnswerer } from './right-to-answer.ts'
import type { StepContext } from './step-context.ts'
import { goOnByHand, loadFree } from './task-lifecycle.ts'

export interface AnswerRequest extends StepContext {
  taskId: string
  /** Absent: the question's default. */
  value?: GivenAnswer
  questionId: string | undefined
  caller: Caller
}

/**
 * INPUT_REQUIRED: the last open answer makes it ready; without an executor it is WORKING at once. Run it with `matchingOutside`.
 */
export function answer(request: AnswerRequest): Step<void> {
  return step('answer', function* (tx) {
    const { taskId, at, caller } = request
    const task = yield* loadFree(tx, taskId, 'answer')
    requireTransition(task, 'answer')
    const questions = (yield* tx.call.open(taskId)).filter((entry) => entry.kind === 'ask')
    const question = chooseQuestion(task, questions, request.questionId)
    if (question !== null) requireAnswerer(task, question, caller)
    const result = valueFor(task, question, request.value)
    const answeredBy = recordedCaller(caller)
    const closed = new Set<string>()
    const [answered] = (question && decideQuestion(question.status, { type: 'answer' })) ?? []
    if (question !== null && answered !== undefined) {
      const details = { ...(question.details as object | null), answeredBy }
      yield* tx.call.save({
        ...question,
        status: answered.to as CallStatus,
        result,
        details,
        dueAt: null,
        updatedAt: at,
      })
      for (const id of [question.id, ...(yield* endRace(tx, task, question.id, request))]) closed.add(id)
    }
    const isLast = questions.every(({ id }) => closed.has(id))
    const data = { ...(question === null ? {} : { questionId: question.id }), answer: result, answeredBy }
    if (isLast && task.executor === null) {
      const cause = { type: 'task.answered' as const, data: () => data }
      return yield* goOnByHand(tx, task, 'answer', request, { cause })
    }
    yield* amend(tx, task, isLast ? { wakes: task.wakes + 1 } : {}, request, 'task.answered', data)
  })
}

/** Null: a task that is worked on by hand has no question but its state. */
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
  if (task.executor !== null) throw refusal('no open question any more: it continues as soon as a slot is free')
  return null
}

function valueFor(task: TaskRecord, question: CallRecord | null, value: AnswerRequest['value']): unknown {
  const params = question?.params as QuestionParams | undefined
  if (value === undefined) {
    if (params !== undefined && 'default' in params) return params.default
    throw new ErrandError('INVALID_ANSWER', `${task.id} needs an answer: its question has no default.`, {
      taskId: task.id,
    })
  }
  const problem = question === null ? undefined : value.problemWith(question)
  if (problem !== undefined) throw problem
  return value.value
}
