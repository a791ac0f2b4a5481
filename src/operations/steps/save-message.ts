// Saves a message from outside under an id of the caller, once. A message of the user is sent like any other, so an agent reads it. A
// message of the assistant is an announcement for people, because no run has written it.

import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { MessageRecord } from '../../entities/message.ts'
import { isSettled } from '../../entities/task.ts'
import { type Step, step } from '../../ledger/ledger.ts'
import { send } from './send.ts'
import { loadToChange, type StepContext } from './step-context.ts'
import { writeLine } from './write-message.ts'

export interface SaveMessageRequest extends StepContext {
  message: Pick<MessageRecord, 'id' | 'taskId' | 'role' | 'content' | 'timestamp'>
  caller: Caller
}

/** @throws ErrandError NOT_FOUND for the task; KEY_CONFLICT { messageId } for an existing id: messages never change. Run it with `matchingOutside`. */
export function saveMessage(request: SaveMessageRequest): Step<void> {
  const { message, ...ctx } = request
  const { id, taskId, role, content, timestamp } = message
  const sending = send({ ...ctx, taskId, messageId: id, content, timestamp, delivery: 'steer', retry: false })
  return step('save message', function* (tx) {
    const task = yield* loadToChange(tx, taskId)
    const existing = yield* tx.message.get(id)
    if (existing !== undefined) throw taken(existing)
    if (role !== 'user' || isSettled(task.status)) {
      const isFromAgent = role === 'assistant' || role === 'tool'
      const delivery = role === 'user' ? 'steer' : null
      const line = {
        id,
        role,
        content,
        delivery,
        announcement: isFromAgent && task.executor !== null,
        timestamp,
      } as const
      return yield* writeLine(tx, task, line, request)
    }
    yield* sending.decide(tx)
  })
}

function taken({ id, taskId }: MessageRecord): ErrandError {
  return new ErrandError(
    'KEY_CONFLICT',
    `The message ${id} already exists in ${taskId}, and messages never change. Save it under another id.`,
    { messageId: id, taskId },
  )
}
