// Requests of services to webhooks of runs, `POST /signals/TOKEN`. The token is the credential.
import { type Caller, checkedCaller } from '../../bus/caller.ts'
import { storableText } from '../../core/storable-text.ts'
import { maxSignalBytes } from '../../entities/signal.ts'
import type { Answer } from '../web/answer.ts'
import { codeOfRefusedBody, readJsonBody, readTextBody } from '../web/body.ts'
import { Refusal } from '../web/problem.ts'
import type { ServedRequest } from '../web/served-request.ts'
import type { HttpEngine } from './http-options.ts'

const abilityId = 'task:receive'
const caller: Caller = checkedCaller({ surface: 'webhook', scopes: ['control'], abilities: [[abilityId]] })

/** The token of a request to a webhook; undefined for any other request. */
export function webhookToken({ method }: ServedRequest, path: string): string | undefined {
  return method === 'POST' ? /^\/signals\/([\w.-]+)$/.exec(path)?.[1] : undefined
}

/** Takes the request: 202 without a body. A body that is not JSON is a text, and without one the payload is true. */
export async function receive(bus: HttpEngine['bus'], token: string, request: ServedRequest): Promise<Answer> {
  await bus.call(abilityId, { token, payload: await payloadOf(request) }, { caller, signal: request.signal })
  return { status: 202, headers: {}, body: null }
}

/** @throws Refusal 400, 413, 415 */
async function payloadOf(request: ServedRequest): Promise<unknown> {
  if (!request.hasBody || request.headers.get('content-length') === '0') return undefined
  const isJson = /[/+]json\b/i.test(request.headers.get('content-type') ?? '')
  const read = isJson ? await readJsonBody(request, maxSignalBytes) : await readTextBody(request, maxSignalBytes)
  if (typeof read === 'string') return read === '' ? undefined : storableText(read)
  if ('json' in read) return read.json
  throw new Refusal(
    codeOfRefusedBody(read),
    read.why,
    read.refused === 413 ? { details: { limitBytes: maxSignalBytes } } : {},
  )
}
