// Mail between members of a team. Each name has an inbox on each board. A message is marked as read in the transaction that takes it,
// so that of two readers with one name only one receives it.
import { z } from 'zod'
import { once } from '../../core/once.ts'
import type { MailRecord } from '../../entities/board.ts'
import type { Op, Reads, Tx } from '../../ledger/ledger.ts'
import type { TeamHost } from '../board-host.ts'
import { loadBoard } from '../numbering.ts'

/** Maximum characters per read of an inbox; a single longer message is still returned. */
const maxText = 262_144

export const verdictSchema = once(() => z.enum(['pending', 'approved', 'rejected']))

/** A message. Times are epoch milliseconds. */
export interface Mail {
  id: string
  from: string
  /** `request` expects an answer, `response` is one. */
  kind: MailRecord['kind']
  topic?: string
  body: string
  /** Shared by a request and its answer. */
  requestId?: string
  /** Of a request: pending until answered. Of an answer: its verdict. */
  verdict?: 'pending' | 'approved' | 'rejected'
  sentAt: number
}

export interface OutgoingMail {
  to: string
  topic?: string | undefined
  body: string
}

export interface Inbox {
  /** Oldest first. */
  mail: Mail[]
  /** There are more messages than the limit, or than fit. */
  more: boolean
}

/** Sends a message and resolves to its id. @throws ErrandError NOT_FOUND for an unknown board. */
export async function sendMail(host: TeamHost, board: string, from: string, letter: OutgoingMail): Promise<string> {
  const id = host.nextId('mail')
  await post(host, {
    id,
    board,
    sender: from,
    recipient: letter.to,
    kind: 'message',
    topic: letter.topic ?? '',
    body: letter.body,
    requestId: null,
    verdict: null,
  })
  return id
}

/** Puts a message into the inbox of its recipient. */
export async function post(host: TeamHost, mail: Omit<MailRecord, 'seq' | 'createdAt' | 'readAt'>): Promise<void> {
  const { at } = await host.stepContext()
  await host.step({
    name: 'send mail',
    *decide(tx): Op<void> {
      yield* loadBoard(tx, mail.board, at)
      yield* tx.mail.insert({ ...mail, createdAt: at, readAt: null })
    },
  })
  await host.wake()
}

/** Takes unread messages out of an inbox; with `keep` they stay unread. */
export async function readInbox(
  host: TeamHost,
  board: string,
  reader: string,
  { limit, keep }: { limit: number; keep: boolean },
): Promise<Inbox> {
  const { at } = await host.stepContext()
  if (keep) {
    return host.read(function* (tx) {
      yield* loadBoard(tx, board, at)
      return (yield* unreadOf(tx, board, reader, limit)).inbox
    })
  }
  return host.step({
    name: 'read inbox',
    *decide(tx): Op<Inbox> {
      yield* loadBoard(tx, board, at)
      return yield* takeMail(tx, board, reader, limit, at)
    },
  })
}

/** Makes mail unread again that its reader has taken and did not get. */
export async function returnMail(host: TeamHost, board: string, reader: string, mail: readonly Mail[]): Promise<void> {
  await host.step({
    name: 'return mail',
    *decide(tx): Op<void> {
      // For its lock on a server, as when mail is taken.
      yield* tx.mail.unread(board, reader, 1)
      for (const { id } of mail) yield* tx.mail.markUnread({ id, recipient: reader })
    },
  })
  await host.wake()
}

/** `readInbox` as a part of another step. */
export function* takeMail(tx: Tx, board: string, reader: string, limit: number, at: number): Op<Inbox> {
  const { taken, inbox } = yield* unreadOf(tx, board, reader, limit)
  for (const mail of taken) yield* tx.mail.markRead(mail, at)
  return inbox
}

function* unreadOf(tx: Reads, board: string, reader: string, limit: number): Op<{ taken: MailRecord[]; inbox: Inbox }> {
  const unread = yield* tx.mail.unread(board, reader, limit + 1)
  const taken = fitting(unread.slice(0, limit))
  return { taken, inbox: { mail: taken.map(toMail), more: taken.length < unread.length } }
}

/** The first message, and as many after it as fit into an answer. */
function fitting(mail: readonly MailRecord[]): MailRecord[] {
  let text = 0
  const tooMany = mail.findIndex(({ body }, index) => {
    text += body.length
    return index > 0 && text > maxText
  })
  return tooMany === -1 ? [...mail] : mail.slice(0, tooMany)
}

function toMail({ id, sender, kind, topic, body, requestId, verdict, createdAt }: MailRecord): Mail {
  return {
    id,
    from: sender,
    kind,
    ...(topic === '' ? {} : { topic }),
    body,
    ...(requestId === null ? {} : { requestId }),
    ...(verdict === null ? {} : { verdict }),
    sentAt: createdAt,
  }
}
