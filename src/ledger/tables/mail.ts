// The mail table: what members of a team tell and ask each other. A message is taken out of the inbox once.
import type { MailRecord } from '../../entities/board.ts'
import type { Tx } from '../ledger.ts'
import type { MailTableRow } from '../schema.ts'
import { change, insertSeq, returningSeq, row, rows, type StatementCompiler, sql } from '../statement.ts'

type Row = Omit<MailTableRow, 'seq'> & { seq: number }

const toMail = (stored: Row): MailRecord => ({
  seq: stored.seq,
  id: stored.id,
  board: stored.board,
  sender: stored.sender,
  recipient: stored.recipient,
  kind: stored.kind as MailRecord['kind'],
  topic: stored.topic,
  body: stored.body,
  requestId: stored.request_id,
  verdict: stored.verdict as MailRecord['verdict'],
  createdAt: stored.created_at,
  readAt: stored.read_at,
})

/** The condition of the partial indexes over requests: in the text, so that the planner sees that they serve. */
const aRequest = sql<boolean>`kind = 'request'`

export function createMailTable(compiler: StatementCompiler): Tx['mail'] {
  const { prepare, dialect } = compiler
  const selectOne = prepare((db, hole) => db.selectFrom('mail').selectAll().where('id', '=', hole('id')))
  const selectRequest = prepare((db, hole) =>
    db.selectFrom('mail').selectAll().where('request_id', '=', hole('request')).where('kind', '=', 'request'),
  )
  const selectUnread = prepare((db, hole) =>
    db
      .selectFrom('mail')
      .selectAll()
      .where('board', '=', hole('board'))
      .where('recipient', '=', hole('recipient'))
      .where('read_at', 'is', null)
      .orderBy('seq', 'asc')
      .limit(hole('limit')),
  )
  const selectRequests = prepare((db, hole) =>
    db
      .selectFrom('mail')
      .selectAll()
      .where('board', '=', hole('board'))
      .where(aRequest)
      .where((where) => where.or([where('recipient', '=', hole('member')), where('sender', '=', hole('member'))]))
      .orderBy('seq', 'desc')
      .limit(hole('limit')),
  )
  const insertMail = prepare((db, hole) =>
    returningSeq(dialect)(
      db.insertInto('mail').values({
        id: hole('id'),
        board: hole('board'),
        sender: hole('sender'),
        recipient: hole('recipient'),
        kind: hole('kind'),
        topic: hole('topic'),
        body: hole('body'),
        request_id: hole('request'),
        verdict: hole('verdict'),
        created_at: hole('created'),
        read_at: hole('read'),
      }),
    ),
  )
  const updateRead = prepare((db, hole) =>
    db
      .updateTable('mail')
      .set({ read_at: hole('at') })
      .where('id', '=', hole('id'))
      .where('read_at', 'is', null),
  )
  const updateVerdict = prepare((db, hole) =>
    db
      .updateTable('mail')
      .set({ verdict: hole('verdict') })
      .where('id', '=', hole('id')),
  )
  const deleteRead = prepare((db, hole) =>
    db
      .deleteFrom('mail')
      .where('read_at', '<', hole('before'))
      .where((where) => where.or([where('verdict', 'is', null), where('verdict', '<>', 'pending')])),
  )

  return {
    *get(id) {
      const found = yield* row<Row>(selectOne, { id })
      return found && toMail(found)
    },
    *request(request) {
      const found = yield* row<Row>(selectRequest, { request })
      return found && toMail(found)
    },
    *unread(board, recipient, limit) {
      return (yield* rows<Row>(selectUnread, { board, recipient, limit })).map(toMail)
    },
    *requests(board, member, limit) {
      return (yield* rows<Row>(selectRequests, { board, member, limit })).map(toMail)
    },
    *insert(mail) {
      return yield* insertSeq(insertMail, {
        id: mail.id,
        board: mail.board,
        sender: mail.sender,
        recipient: mail.recipient,
        kind: mail.kind,
        topic: mail.topic,
        body: mail.body,
        request: mail.requestId,
        verdict: mail.verdict,
        created: mail.createdAt,
        read: mail.readAt,
      })
    },
    *markRead(id, at) {
      yield* change(updateRead, { id, at })
    },
    *decide(id, verdict) {
      yield* change(updateVerdict, { id, verdict })
    },
    *forget(before) {
      yield* change(deleteRead, { before })
    },
  }
}
