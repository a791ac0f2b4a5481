// Conversations of agents: what a model step requested and cost, how a message from outside reaches its agent, the messages that report a
// call; and the indexes by which conversations and tasks are listed by time.
import { type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

export const conversations: Migration = {
  name: 'conversations',
  statements: (spelling) => [...messageColumns(spelling), ...callColumns(spelling), ...timeIndexes(spelling)],
}

function messageColumns({ db }: Spelling): Compilable[] {
  const message = db.schema.alterTable('message')
  return [
    message.addColumn('step', 'text'),
    message.addColumn('delivery', 'text', (column) => column.check(sql`delivery in ('abort', 'steer', 'followup')`)),
    db.schema
      .createIndex('message_delivered')
      .on('message')
      .columns(['task_id', 'n'])
      .where(sql.ref('delivery'), 'is not', null),
  ]
}

function callColumns({ db }: Spelling): Compilable[] {
  const call = db.schema.alterTable('call')
  // No foreign key: a purge would have to look for calls of each message it removes. Both are written in one transaction.
  return [call.addColumn('start_message_id', 'text'), call.addColumn('end_message_id', 'text')]
}

function timeIndexes({ db: { schema } }: Spelling): Compilable[] {
  return [
    schema.createIndex('task_created').on('task').column('created_at'),
    schema.createIndex('task_updated').on('task').column('updated_at'),
    schema.createIndex('message_time').on('message').columns(['task_id', 'timestamp']),
    schema.createIndex('call_status').on('call').column('status'),
  ]
}
