// Boards: tasks under numbers of their own, mail between members, and the texts of files that mirror a board.
import { type Compilable, sql } from 'kysely'
import { checked, required, type Spelling } from './migration.ts'

export function boardTables(spelling: Spelling): Compilable[] {
  return [...boards(spelling), ...mail(spelling), ...mirrors(spelling)]
}

/** The planner uses the index only for statements with this very text (tables/board.ts). */
const workspace = {
  sqlite: `case when json_valid(fields) then json_extract(fields, '$.workspace') end`,
  postgres: `(fields::jsonb ->> 'workspace')`,
}

function boards({ kind, integer, table, index, uniqueIndex }: Spelling): Compilable[] {
  return [
    table('board')
      .addColumn('name', 'text', (column) => column.notNull().primaryKey())
      .addColumn('parent_id', 'text')
      .addColumn('next_number', integer, checked('next_number >= 1'))
      .addColumn('seen_seq', integer, required)
      .addColumn('created_at', integer, required),
    table('board_task')
      .addColumn('board', 'text', (column) => column.notNull().references('board.name'))
      .addColumn('number', integer, checked('number >= 1'))
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('fields', 'text', required)
      .addPrimaryKeyConstraint('board_task_key', ['board', 'number']),
    uniqueIndex('board_task_once', 'board_task', 'task_id, board'),
    index('board_workspace', 'board_task', `board, ${workspace[kind]}`, `${workspace[kind]} is not null`),
  ]
}

function mail({ integer, numbered, index, uniqueIndex }: Spelling): Compilable[] {
  return [
    numbered('mail')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('board', 'text', required)
      .addColumn('sender', 'text', required)
      .addColumn('recipient', 'text', required)
      .addColumn('kind', 'text', checked(`kind in ('message', 'request', 'response')`))
      .addColumn('topic', 'text', required)
      .addColumn('body', 'text', required)
      .addColumn('request_id', 'text')
      .addColumn('verdict', 'text', (column) => column.check(sql`verdict in ('pending', 'approved', 'rejected')`))
      .addColumn('created_at', integer, required)
      .addColumn('read_at', integer)
      .addCheckConstraint('mail_request_has_id', sql`(request_id is null) = (kind = 'message')`)
      .addCheckConstraint('mail_request_has_verdict', sql`(verdict is null) = (kind = 'message')`),
    index('mail_unread', 'mail', 'board, recipient, seq', 'read_at is null'),
    ...['recipient', 'sender'].map((member) =>
      index(`mail_request_${member}`, 'mail', `board, ${member}`, `kind = 'request'`),
    ),
    // One request and one answer for each id: a second answer cannot be written.
    uniqueIndex('mail_request', 'mail', 'request_id, kind', 'request_id is not null'),
  ]
}

function mirrors({ integer, table }: Spelling): Compilable[] {
  return [
    table('board_mirror')
      .addColumn('dir', 'text', (column) => column.notNull().primaryKey())
      .addColumn('board', 'text', required)
      .addColumn('instance_id', 'text', required)
      .addColumn('until', integer, required),
    table('board_file')
      .addColumn('dir', 'text', required)
      .addColumn('number', integer, required)
      .addColumn('version', integer, required)
      .addColumn('text', 'text', required)
      .addPrimaryKeyConstraint('board_file_key', ['dir', 'number', 'version']),
  ]
}
