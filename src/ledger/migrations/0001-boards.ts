// Boards: tasks under numbers of their own, mail between members, and the texts of files that mirror a board.
import { type Compilable, sql } from 'kysely'
import { required, type Spelling } from './migration.ts'

export function boardTables(spelling: Spelling): Compilable[] {
  return [...boards(spelling), ...mail(spelling), ...mirrors(spelling)]
}

/** The planner uses the index only for statements with this very text (tables/board.ts). */
const workspace = {
  sqlite: sql`case when json_valid(fields) then json_extract(fields, '$.workspace') end`,
  postgres: sql`(fields::jsonb ->> 'workspace')`,
}

function boards({ kind, db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('board')
        .addColumn('name', 'text', (column) => column.notNull().primaryKey())
        .addColumn('parent_id', 'text')
        .addColumn('next_number', integer, (column) => column.notNull().check(sql`next_number >= 1`))
        .addColumn('seen_seq', integer, required)
        .addColumn('created_at', integer, required),
    ),
    strict(
      schema
        .createTable('board_task')
        .addColumn('board', 'text', (column) => column.notNull().references('board.name'))
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('fields', 'text', required)
        .addPrimaryKeyConstraint('board_task_key', ['board', 'number']),
    ),
    schema.createIndex('board_task_once').unique().on('board_task').columns(['task_id', 'board']),
    schema
      .createIndex('board_workspace')
      .on('board_task')
      .expression(sql`board, ${workspace[kind]}`)
      .where(workspace[kind], 'is not', null),
  ]
}

function mail({ db: { schema }, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('mail')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('board', 'text', required)
        .addColumn('sender', 'text', required)
        .addColumn('recipient', 'text', required)
        .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('message', 'request', 'response')`))
        .addColumn('topic', 'text', required)
        .addColumn('body', 'text', required)
        .addColumn('request_id', 'text')
        .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('pending', 'approved', 'rejected')`))
        .addColumn('created_at', integer, required)
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

function mirrors({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('board_mirror')
        .addColumn('dir', 'text', (column) => column.notNull().primaryKey())
        .addColumn('board', 'text', required)
        .addColumn('instance_id', 'text', required)
        .addColumn('until', integer, required),
    ),
    strict(
      schema
        .createTable('board_file')
        .addColumn('dir', 'text', required)
        .addColumn('number', integer, required)
        .addColumn('version', integer, required)
        .addColumn('text', 'text', required)
        .addPrimaryKeyConstraint('board_file_key', ['dir', 'number', 'version']),
    ),
  ]
}
