// Boards: tasks under numbers of their own, mail between members, and the texts of files that mirror a board.
import { type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

export const boards: Migration = {
  name: 'boards',
  statements: (spelling) => [...boardTables(spelling), ...mailTable(spelling), ...mirrorTables(spelling)],
}

function boardTables({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('board')
        .addColumn('name', 'text', (column) => column.notNull().primaryKey())
        .addColumn('parent_id', 'text')
        .addColumn('next_number', integer, (column) => column.notNull().check(sql`next_number >= 1`))
        .addColumn('seen_seq', integer, (column) => column.notNull())
        .addColumn('created_at', integer, (column) => column.notNull()),
    ),
    strict(
      schema
        .createTable('board_task')
        .addColumn('board', 'text', (column) => column.notNull().references('board.name'))
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('fields', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('board_task_key', ['board', 'number']),
    ),
    schema.createIndex('board_task_once').unique().on('board_task').columns(['task_id', 'board']),
  ]
}

function mailTable({ db: { schema }, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('mail')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('board', 'text', (column) => column.notNull())
        .addColumn('sender', 'text', (column) => column.notNull())
        .addColumn('recipient', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('message', 'request', 'response')`))
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('request_id', 'text')
        .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('pending', 'approved', 'rejected')`))
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('read_at', integer)
        .addCheckConstraint('mail_request_has_id', sql`(request_id is null) = (kind = 'message')`)
        .addCheckConstraint('mail_request_has_verdict', sql`(verdict is null) = (kind = 'message')`),
    ),
    schema
      .createIndex('mail_unread')
      .on('mail')
      .columns(['board', 'recipient', 'seq'])
      .where(sql.ref('read_at'), 'is', null),
    ...['recipient', 'sender'].map((member) =>
      schema
        .createIndex(`mail_request_${member}`)
        .on('mail')
        .columns(['board', member])
        .where(sql.ref('kind'), '=', sql`'request'`),
    ),
    // One request and one answer for each id: a second answer cannot be written.
    schema
      .createIndex('mail_request')
      .unique()
      .on('mail')
      .columns(['request_id', 'kind'])
      .where(sql.ref('request_id'), 'is not', null),
  ]
}

function mirrorTables({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('board_mirror')
        .addColumn('dir', 'text', (column) => column.notNull().primaryKey())
        .addColumn('board', 'text', (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('until', integer, (column) => column.notNull()),
    ),
    strict(
      schema
        .createTable('board_file')
        .addColumn('dir', 'text', (column) => column.notNull())
        .addColumn('number', integer, (column) => column.notNull())
        .addColumn('version', integer, (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('board_file_key', ['dir', 'number', 'version']),
    ),
  ]
}
