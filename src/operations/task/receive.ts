// task:receive: takes what a service sends to the address of `run.webhook`. The token is the credential, so no other is required.
import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import { signalOfWebhook, webhookName } from '../../entities/signal.ts'
import { defineOperation } from '../define-operation.ts'
import { matchingOutside } from '../steps/answer-schema.ts'
import { signal } from '../steps/signal.ts'
import { requestedBy } from '../steps/step-context.ts'
import { payloadOf } from './signal.ts'

export const taskReceive = defineOperation({
  id: 'task:receive',
  access: 'control',
  description: 'Takes the request of a service to a webhook of a run, once.',
  input: () => z.strictObject({ token: z.string().min(1).max(200), payload: z.unknown().optional() }),
  output: () => z.object({ taskId: z.string() }),
  models: false,
  async handle({ token, payload: given }, { caller }, host) {
    const [entryId = '', secret = ''] = token.split('.')
    const entry = await host.read((tx) => tx.call.get(entryId))
    if (!isTokenOf(entry, secret)) throw unknownToken()
    const { taskId } = entry
    const [name, payload] = [signalOfWebhook(entryId), payloadOf(given)]
    const ctx = requestedBy(await host.stepContext(), caller)
    // Sent with its own id, so that the second request finds that the token was used.
    const receive = signal({ ...ctx, taskId, name, payload, sentId: entryId })
    if (await matchingOutside(() => host.step(receive))) return { taskId }
    throw unknownToken()
  },
})

function isTokenOf(entry: CallRecord | undefined, secret: string): entry is CallRecord {
  return entry?.kind === 'value' && entry.name === webhookName && isSame(String(entry.result), secret)
}

/** In the same time for all secrets. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(left as Buffer, right as Buffer)
}

function unknownToken(): ErrandError {
  return new ErrandError('NOT_FOUND', 'No webhook has this token, or it was used: each works once.')
}
