// Handshakes: a request that wants a yes or a no (may I go ahead with this plan, please shut down), and its one answer. Both are
// mail and have the same id; what was answered stands on the request.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import type { MailRecord } from '../../entities/board.ts'
import type { Op } from '../../ledger/ledger.ts'
import type { TeamHost } from '../board-host.ts'
import { type Letter, post, verdictSchema } from './mail.ts'

/** A request, and what has become of it. Times are epoch milliseconds. */
export const requestSchema = z.object({
  requestId: z.string(),
  from: z.string(),
  to: z.string(),
  topic: z.string(),
  body: z.string(),
  verdict: verdictSchema,
  sentAt: z.number(),
})
type TeamRequest = z.output<typeof requestSchema>

export interface Answer {
  requestId: string
  approve: boolean
  body: string
}

/** Resolves to the id of the request, by which it is answered. @throws ErrandError NOT_FOUND for a board that nobody has made. */
export async function sendRequest(
  host: TeamHost,
  board: string,
  from: string,
  { to, topic, body }: Letter & { topic: string },
): Promise<string> {
  const requestId = host.nextId('request')
  await post(host, {
    id: host.nextId('mail'),
    board,
    sender: from,
    recipient: to,
    kind: 'request',
    topic,
    body,
    requestId,
    verdict: 'pending',
  })
  return requestId
}

/**
 * The verdict stands on the request, and the answer lies in the inbox of whoever asked, in one transaction.
 * @throws ErrandError NOT_FOUND; NOT_OWNER for somebody else's request; INVALID_TRANSITION for one that has been answered.
 */
export async function answerRequest(
  host: TeamHost,
  by: string,
  { requestId, approve, body }: Answer,
): Promise<TeamRequest> {
  const { at } = await host.stepContext()
  const id = host.nextId('mail')
  const answered = await host.step({
    name: 'answer request',
    *decide(tx): Op<TeamRequest> {
      const request = requireAnswerable(yield* tx.mail.request(requestId), requestId, by)
      const { board, topic, sender } = request
      const verdict = approve ? 'approved' : 'rejected'
      yield* tx.mail.decide(request.id, verdict)
      const answer = { id, board, sender: by, recipient: sender, topic, body, requestId, verdict } as const
      yield* tx.mail.insert({ ...answer, kind: 'response', createdAt: at, readAt: null })
      return toRequest({ ...request, verdict })
    },
  })
  await host.stir()
  return answered
}

/** What somebody asked and was asked, the latest first. */
export async function requestsOf(host: TeamHost, board: string, member: string, limit: number): Promise<TeamRequest[]> {
  return (await host.read((tx) => tx.mail.requests(board, member, limit))).map(toRequest)
}

function requireAnswerable(request: MailRecord | undefined, requestId: string, by: string): MailRecord {
  if (request === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `There is no request ${requestId}. \`requests\` lists those that you were sent.`,
      {
        requestId,
      },
    )
  }
  const { recipient, sender, topic, verdict } = request
  if (recipient !== by) {
    throw new ErrandError(
      'NOT_OWNER',
      `Request ${requestId} (${topic}) of ${sender} is for ${recipient}: ${by} cannot answer it.`,
      { requestId, owner: recipient, by },
    )
  }
  if (verdict !== 'pending') {
    throw new ErrandError(
      'INVALID_TRANSITION',
      `Request ${requestId} (${topic}) of ${sender} has been answered: it was ${verdict}. Send a message if that has changed.`,
      { requestId, from: verdict, event: 'respond', allowed: [] },
    )
  }
  return request
}

function toRequest({ requestId, sender, recipient, topic, body, verdict, createdAt }: MailRecord): TeamRequest {
  return {
    requestId: requestId ?? '',
    from: sender,
    to: recipient,
    topic,
    body,
    verdict: verdict ?? 'pending',
    sentAt: createdAt,
  }
}
