// The journal holds values (`run.now()` and others) and marks entries that were made inside a call. An index finds the tasks that are
// suspected of crashing their engine among thousands of ready ones.
import { type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

export const valuesAndSuspects: Migration = {
  name: 'values and suspects',
  statements: (spelling) => [
    ...(spelling.kind === 'sqlite' ? rebuiltCalls(spelling) : alteredCalls(spelling)),
    spelling.db.schema
      .createIndex('task_suspected')
      .on('task')
      .expression(sql`executor, priority desc, seq`)
      .where(sql.ref('ready'), '=', sql`1`)
      .where(sql.ref('crashes'), '>', sql`0`),
  ],
}

const kinds = sql`kind in ('call', 'ask', 'wait', 'sleep', 'spawn', 'value')`

function alteredCalls({ db }: Spelling): Compilable[] {
  const call = db.schema.alterTable('call')
  return [
    call.dropConstraint('call_kind_check'),
    call.addCheckConstraint('call_kind_check', kinds),
    call.addColumn('parent_id', 'text'),
  ]
}

/** SQLite cannot alter a CHECK: the table is created again and the rows are moved, with all that depended on the old one. */
function rebuiltCalls({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  const columns = sql.raw(
    `seq, id, task_id, run, attempt, kind, name, ident, ordinal, params, status, on_interrupt, details, result, error,
     due_at, created_at, updated_at, start_message_id, end_message_id`,
  )
  return [
    schema.alterTable('call').renameTo('call_before'),
    strict(
      schema
        .createTable('call')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('run', integer, (column) => column.notNull())
        .addColumn('attempt', integer, (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull().check(kinds))
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('ident', 'text', (column) => column.notNull())
        .addColumn('ordinal', integer, (column) => column.notNull())
        .addColumn('params', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('pending', 'in_progress', 'completed', 'failed')`),
        )
        .addColumn('on_interrupt', 'text', (column) =>
          column.notNull().check(sql`on_interrupt in ('fail', 'rerun', 'ask')`),
        )
        .addColumn('details', 'text', (column) => column.notNull())
        .addColumn('result', 'text', (column) => column.notNull())
        .addColumn('error', 'text')
        .addColumn('due_at', integer)
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addColumn('start_message_id', 'text')
        .addColumn('end_message_id', 'text')
        .addColumn('parent_id', 'text')
        .addCheckConstraint('call_failed_has_error', sql`(error is not null) = (status = 'failed')`)
        .addCheckConstraint('call_due_is_open', sql`due_at is null or status in ('pending', 'in_progress')`),
    ),
    raw(db, sql`insert into "call" (${columns}) select ${columns} from call_before order by seq`),
    // A number is never reused, also if the rows with the highest numbers were purged.
    raw(db, sql`delete from sqlite_sequence where name = 'call'`),
    raw(db, sql`update sqlite_sequence set name = 'call' where name = 'call_before'`),
    schema.dropTable('call_before'),
    schema.createIndex('call_of_task').on('call').columns(['task_id', 'seq']),
    schema
      .createIndex('call_open')
      .on('call')
      .column('task_id')
      .where(sql.ref('status'), 'in', sql`('pending', 'in_progress')`),
    schema.createIndex('call_timer').on('call').column('due_at').where(sql.ref('due_at'), 'is not', null),
    schema.createIndex('call_status').on('call').column('status'),
    raw(
      db,
      sql`create trigger call_keeps_its_outcome before update of status on "call"
          when (old.status in ('completed', 'failed') or (old.status = 'in_progress' and new.status = 'pending'))
          begin select raise(abort, 'a call never takes back its outcome'); end`,
    ),
  ]
}

function raw(db: Spelling['db'], statement: ReturnType<typeof sql.raw>): Compilable {
  return { compile: () => statement.compile(db) } as Compilable
}
