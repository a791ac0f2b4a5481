// A message saved from outside, as it is: under an id of the saver's own, once. One of the user is sent like any other, so an
// agent reads it; what the assistant is said to have said is for people, because no run has said it.
import type { MessageRecord, MessageRole } from '../entities/message.ts'
import { isSettled, type TaskRecord } from '../entities/task.ts'
import { ErrandError } from '../errors.ts'
import type { AnyStep, NewMessage, Op, Step } from '../ledger/ledger.ts'
import { loadTask, type Moment } from './moment.ts'
import { send } from './send.ts'
import { writeMessage } from './write-message.ts'

export interface SaveMessageRequest extends Moment {
  message: {
    id: string
    taskId: string
    role: MessageRole
    content: string
    /** Epoch milliseconds, kept as given. */
    timestamp: number
  }
}

interface Loaded {
  task: TaskRecord
  /** What stands under the id already. */
  existing: MessageRecord | undefined
  /** Undefined where nobody is to hear of it. */
  sending: { step: AnyStep; loaded: unknown } | undefined
}

interface Verdict {
  task: TaskRecord
  sending: { step: AnyStep; decision: unknown } | undefined
}

/** @throws ErrandError NOT_FOUND for the task; KEY_CONFLICT { messageId } for an id that is taken: messages never change. */
export function saveMessage(request: SaveMessageRequest): Step<Loaded, Verdict, void> {
  const { message } = request
  return {
    name: 'save message',
    *load(tx) {
      const task = yield* loadTask(tx, message.taskId)
      const existing = yield* tx.message.get(message.id)
      if (message.role !== 'user' || isSettled(task.status)) return { task, existing, sending: undefined }
      const step: AnyStep = send({
        at: request.at,
        instanceId: request.instanceId,
        taskId: message.taskId,
        messageId: message.id,
        content: message.content,
        timestamp: message.timestamp,
        delivery: 'steer',
        retry: false,
      })
      return { task, existing, sending: { step, loaded: yield* step.load(tx) } }
    },
    judge({ task, existing, sending }) {
      if (existing !== undefined) throw taken(existing)
      return {
        task,
        sending: sending && { step: sending.step, decision: sending.step.judge(sending.loaded) as unknown },
      }
    },
    *write(tx, { task, sending }): Op<void> {
      if (sending !== undefined) yield* sending.step.write(tx, sending.decision)
      else yield* writeMessage(tx, task, rowOf(request, task), request)
    },
  }
}

function taken({ id, taskId }: MessageRecord): ErrandError {
  return new ErrandError(
    'KEY_CONFLICT',
    `There is a message ${id} already, in ${taskId}, and messages never change. Save it under another id.`,
    { messageId: id, taskId },
  )
}

function rowOf({ message }: SaveMessageRequest, task: TaskRecord): NewMessage {
  const isSaid = message.role === 'assistant' || message.role === 'tool'
  return {
    ...message,
    announcement: isSaid && task.executor !== null,
    step: null,
    delivery: message.role === 'user' ? 'steer' : null,
    run: null,
    ident: null,
    ordinal: 0,
  }
}
