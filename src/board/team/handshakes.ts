// Handshakes: a request for a yes or no (may I go ahead with this plan, please shut down) and its one answer. Both are mail and share
// an id; the verdict is stored on the request.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import type { MailRecord } from '../../entities/board.ts'
import type { Op } from '../../ledger/ledger.ts'
import type { TeamHost } from '../board-host.ts'
import { type OutgoingMail, post, verdictSchema } from './mail.ts'

/** A request and its verdict. Times are epoch milliseconds. */
export const requestSchema = once(() =>
  z.object({
    requestId: z.string(),
    from: z.string(),
    to: z.string(),
    topic: z.string(),
    body: z.string(),
    verdict: verdictSchema(),
    sentAt: z.number(),
  }),
)
type TeamRequest = z.output<ReturnType<typeof requestSchema>>

export interface Answer {
  requestId: string
  approve: boolean
  body: string
}

/** Sends a request and resolves to its id, which the answer must quote. @throws ErrandError NOT_FOUND for an unknown board. */
export async function sendRequest(
  host: TeamHost,
  board: string,
  from: string,
  { to, topic, body }: OutgoingMail & { topic: string },
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
 * Answers a request: sets its verdict and puts the answer into the sender's inbox, in one transaction.
 * @throws ErrandError NOT_FOUND; NOT_OWNER for a request to another member; INVALID_TRANSITION for an answered one.
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
      // For its lock on a server: a step that reads the inbox at the same time writes to the same row.
      yield* tx.mail.unread(board, by, 1)
      const verdict = approve ? 'approved' : 'rejected'
      yield* tx.mail.decide(requestId, verdict)
      const answer = { id, board, sender: by, recipient: sender, topic, body, requestId, verdict } as const
      yield* tx.mail.insert({ ...answer, kind: 'response', createdAt: at, readAt: null })
      return toRequest({ ...request, verdict })
    },
  })
  await host.wake()
  return answered
}

/** Returns the requests that a member sent or received, latest first. */
export async function requestsOf(host: TeamHost, board: string, member: string, limit: number): Promise<TeamRequest[]> {
  return (await host.read((tx) => tx.mail.requests(board, member, limit))).map(toRequest)
}

function requireAnswerable(request: MailRecord | undefined, requestId: string, by: string): MailRecord {
  if (request === undefined) {
    throw new ErrandError(
      'NOT_FOUND',
      `There is no request ${requestId}. \`requests\` lists the requests that you have received.`,
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
      `Request ${requestId} (${topic}) of ${sender} is already answered: it was ${verdict}. Send a message if that has changed.`,
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
