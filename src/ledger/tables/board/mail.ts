// The mail table: messages and requests between members of a team. A message is taken out of the inbox once.

import type { Tx } from '../../ledger.ts'
import { change, insertSeq, type StatementCompiler, sql, write } from '../../statement.ts'
import { defineTable, ofKey, plain, serial, statementsOf } from '../../table-mapping.ts'

const mails = defineTable('mail', {
  seq: serial,
  id: plain,
  board: plain,
  sender: plain,
  recipient: ofKey,
  kind: plain,
  topic: plain,
  body: plain,
  requestId: plain,
  verdict: plain,
  createdAt: plain,
  readAt: plain,
})

/** The condition of the partial indexes over requests, part of the text because the planner uses them only then. */
const aRequest = sql<boolean>`kind = 'request'`

export function createMailTable(compiler: StatementCompiler): Tx['mail'] {
  const { prepare } = compiler
  const { select, finds, insert } = statementsOf(compiler, mails)
  const selectRequest = select((mail, hole) =>
    mail.where('request_id', '=', hole('request', ofKey)).where('kind', '=', 'request'),
  )
  const selectUnread = select((mail, hole) =>
    mail
      .where('board', '=', hole('board'))
      .where('recipient', '=', hole('recipient', ofKey))
      .where('read_at', 'is', null)
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectRequests = select((mail, hole) =>
    mail
      .where('board', '=', hole('board'))
      .where(aRequest)
      .where((where) => where.or([where('recipient', '=', hole('member')), where('sender', '=', hole('member'))]))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const insertMail = insert()
  const updateRead = prepare((db, hole) =>
    db
      .updateTable('mail')
      .set({ read_at: hole('at') })
      .where('id', '=', hole('id'))
      .where('recipient', '=', hole('recipient', ofKey))
      .where('read_at', 'is', null),
  )
  const updateUnread = prepare((db, hole) =>
    db
      .updateTable('mail')
      .set({ read_at: null })
      .where('id', '=', hole('id'))
      .where('recipient', '=', hole('recipient', ofKey))
      .where('read_at', 'is not', null),
  )
  const updateVerdict = prepare((db, hole) =>
    db
      .updateTable('mail')
      .set({ verdict: hole('verdict') })
      .where('request_id', '=', hole('request', ofKey))
      .where('kind', '=', 'request'),
  )
  const deleteRead = prepare((db, hole) =>
    db.deleteFrom('mail').where('seq', 'in', (old) =>
      old
        .selectFrom('mail')
        .select('seq')
        .where('read_at', '<', hole('before'))
        .where((where) => where.or([where('verdict', 'is', null), where('verdict', '<>', 'pending')]))
        .limit(hole('limit')),
    ),
  )

  return {
    get: finds('id'),
    request: (request) => mails.one(selectRequest, { request }),
    unread: (board, recipient, limit) => mails.list(selectUnread, { board, recipient, limit }),
    requests: (board, member, limit) => mails.list(selectRequests, { board, member, limit }),
    insert: (mail) => insertSeq(insertMail, mail),
    markRead: ({ id, recipient }, at) => write(updateRead, { id, recipient, at }),
    markUnread: ({ id, recipient }) => write(updateUnread, { id, recipient }),
    decide: (request, verdict) => write(updateVerdict, { request, verdict }),
    forget: (before, limit) => change(deleteRead, { before, limit }),
  }
}
