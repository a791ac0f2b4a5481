// Sends a message to a task: appends it to the conversation, and in the same transaction answers a question, ends a wait, interrupts the
// run or gives a failed task a new attempt.

import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { QuestionParams } from '../../entities/question.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { type Op, type Reads, type Step, step } from '../../ledger/ledger.ts'
import { acceptedEvents } from '../../machines/task-edges.ts'
import { answer } from './answer.ts'
import { GivenAnswer } from './answer-schema.ts'
import { retry } from './retry.ts'
import { mayAnswer } from './right-to-answer.ts'
import { settle } from './settle-family.ts'
import { loadToChange, type StepContext } from './step-context.ts'
import { pause } from './task-lifecycle.ts'
import { wakeByMessage } from './wait.ts'
import { writeLine } from './write-message.ts'

export interface SendRequest extends StepContext {
  taskId: string
  messageId: string
  content: string
  /** When the message was received, in epoch milliseconds. Default: now. */
  timestamp?: number
  /** `steer`: before the agent's next step; `followup`: only when the agent would end; `abort`: at once, and the task is paused. */
  delivery: 'steer' | 'followup' | 'abort'
  /** Gives a failed task a new attempt. */
  retry: boolean
  caller: Caller
}

/** Run it with `matchingOutside`: the message may answer a question. */
export function send(request: SendRequest): Step<void> {
  const given = new GivenAnswer(request.content)
  return step('send', function* (tx) {
    const task = yield* loadToChange(tx, request.taskId)
    requireListening(task, request)
    const question = yield* answerable(tx, task, request, given)
    // A message that answers a question reaches the model as that answer only.
    const { messageId: id, content, delivery, timestamp = request.at } = request
    const answers = question !== undefined
    yield* writeLine(tx, task, { id, role: 'user', content, delivery, announcement: answers, timestamp }, request)
    const verb = verbOf(task, request, question, given)
    if (verb === undefined) yield* wakeByMessage(tx, task, request.delivery, request)
    else yield* verb.decide(tx)
    // A task that only waited for its children has more to do now.
    if (task.stuckBy !== null) yield* settle(tx, request, { tasks: [task.id] })
  })
}

/** The step that the message causes besides. */
function verbOf(
  task: TaskRecord,
  request: SendRequest,
  questionId: string | undefined,
  value: GivenAnswer,
): Step | undefined {
  if (request.delivery === 'abort') return pause(task.id, request)
  if (task.status === 'failed' && request.retry) return retry(task.id, request)
  if (questionId === undefined) return undefined
  return answer({ ...request, questionId, value })
}

/** The id of the one open question, if plain text answers it and the caller may answer. */
function* answerable(
  tx: Reads,
  task: TaskRecord,
  { delivery, caller }: SendRequest,
  given: GivenAnswer,
): Op<string | undefined> {
  if (task.status !== 'input_required' || delivery !== 'steer') return undefined
  const questions = (yield* tx.call.open(task.id)).filter((entry) => entry.kind === 'ask')
  const [question] = questions
  if (question === undefined || questions.length > 1) return undefined
  const params = question.params as QuestionParams
  return mayAnswer(params, caller) && given.problemWith(question) === undefined ? question.id : undefined
}

function requireListening(task: TaskRecord, request: SendRequest): void {
  if (!isSettled(task.status) || (task.status === 'failed' && request.retry)) return
  const help =
    task.status === 'failed'
      ? 'To give it a new attempt with this message, send it with `retry`.'
      : 'It is final. Create a new task.'
  throw new ErrandError('INVALID_TRANSITION', `Cannot send to ${task.id}: it is ${task.status}. ${help}`, {
    taskId: task.id,
    from: task.status,
    event: 'send',
    allowed: [...acceptedEvents(task.status)],
  })
}
