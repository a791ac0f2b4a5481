// The first ledger. Its CHECKs repeat the states as frozen literals; a test compares them with the table of machines/.
import { type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

const statuses = sql.raw(
  `'submitted', 'working', 'paused', 'input_required', 'waiting', 'completed', 'failed', 'canceled'`,
)
const settled = sql.raw(`'completed', 'failed', 'canceled'`)

export const firstLedger: Migration = {
  name: 'first ledger',
  statements: (spelling) => [
    ...taskTable(spelling),
    ...dependencyTable(spelling),
    ...runTable(spelling),
    ...callTable(spelling),
    ...messageTable(spelling),
    ...eventTable(spelling),
    ...instanceTable(spelling),
    ...guards(spelling),
  ],
}

function taskTable({ db, integer, orderedText, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('task')
        .addColumn('seq', risingType, rising)
        .addColumn('id', orderedText, (column) => column.notNull().unique())
        .addColumn('key', orderedText, (column) => column.unique())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('goal', 'text')
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in (${statuses})`))
        .addColumn('status_reason', 'text')
        .addColumn('is_group', integer, (column) => column.notNull().check(sql`is_group in (0, 1)`))
        .addColumn('ready', integer, (column) => column.notNull().check(sql`ready in (0, 1)`))
        .addColumn('held', integer, (column) => column.notNull().check(sql`held in (0, 1)`))
        .addColumn('executor', 'text')
        .addColumn('input', 'text', (column) => column.notNull())
        .addColumn('result', 'text', (column) => column.notNull())
        .addColumn('error', 'text')
        .addColumn('priority', integer, (column) => column.notNull())
        .addColumn('parent_id', 'text', (column) => column.references('task.id'))
        .addColumn('owner', 'text')
        .addColumn('attempt', integer, (column) => column.notNull().check(sql`attempt >= 1`))
        .addColumn('run', integer, (column) => column.notNull().check(sql`run >= 0`))
        .addColumn('run_open', integer, (column) => column.notNull().check(sql`run_open in (0, 1)`))
        .addColumn('open_blockers', integer, (column) => column.notNull().check(sql`open_blockers >= 0`))
        .addColumn('wakes', integer, (column) => column.notNull().check(sql`wakes >= 0`))
        .addColumn('crashes', integer, (column) => column.notNull())
        .addColumn('not_before', integer)
        .addColumn('policy', 'text', (column) => column.notNull())
        .addColumn('metadata', 'text', (column) => column.notNull())
        .addColumn('progress', 'text')
        .addColumn('snapshot', 'text', (column) => column.notNull())
        .addColumn('version', integer, (column) => column.notNull())
        .addColumn('created_at', integer, (column) => column.notNull())
        .addColumn('updated_at', integer, (column) => column.notNull())
        .addColumn('completed_at', integer)
        .addColumn('deleted_at', integer)
        .addCheckConstraint('task_settled_has_time', sql`(completed_at is not null) = (status in (${settled}))`)
        .addCheckConstraint(
          'task_ready_is_free',
          sql`ready = 0 or (executor is not null and run_open = 0 and open_blockers = 0)`,
        )
        .addCheckConstraint('task_is_not_its_parent', sql`parent_id is null or parent_id <> id`),
    ),
    schema
      .createIndex('task_ready')
      .on('task')
      .expression(sql`executor, priority desc, seq`)
      .where(sql.ref('ready'), '=', sql`1`),
    schema
      .createIndex('task_child')
      .on('task')
      .columns(['parent_id', 'status'])
      .where(sql.ref('parent_id'), 'is not', null),
    schema.createIndex('task_timer').on('task').column('not_before').where(sql.ref('not_before'), 'is not', null),
    schema.createIndex('task_by_status').on('task').expression(sql`status, priority desc, seq`),
  ]
}

function dependencyTable({ db, integer, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('dependency')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('blocker_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('after', 'wait')`))
        .addColumn('call_id', 'text', (column) => column.notNull())
        .addColumn('position', integer, (column) => column.notNull())
        .addColumn('satisfied_at', integer)
        .addColumn('created_at', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('dependency_key', ['task_id', 'blocker_id', 'call_id'])
        .addCheckConstraint('dependency_is_not_itself', sql`task_id <> blocker_id`),
    ),
    schema.createIndex('dependency_in_order').on('dependency').columns(['task_id', 'position']),
    schema
      .createIndex('dependency_open')
      .on('dependency')
      .columns(['blocker_id', 'task_id'])
      .where(sql.ref('satisfied_at'), 'is', null),
    schema
      .createIndex('dependency_awaited')
      .on('dependency')
      .column('blocker_id')
      .where(sql.ref('kind'), '=', sql`'wait'`),
    schema.createIndex('dependency_wait').on('dependency').column('call_id').where(sql.ref('kind'), '=', sql`'wait'`),
  ]
}

function runTable({ db, integer, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('run')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('number', integer, (column) => column.notNull())
        .addColumn('attempt', integer, (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('live', 'ending', 'closed')`))
        .addColumn('outcome', 'text', (column) =>
          column.check(
            sql`outcome in ('completed', 'failed', 'paused', 'canceled', 'input_required', 'waiting', 'interrupted', 'released')`,
          ),
        )
        .addColumn('error', 'text')
        .addColumn('started_at', integer, (column) => column.notNull())
        .addColumn('ended_at', integer)
        .addColumn('closed_at', integer)
        .addColumn('due_at', integer)
        .addPrimaryKeyConstraint('run_key', ['task_id', 'number'])
        .addCheckConstraint('run_ended_has_time', sql`(ended_at is null) = (status = 'live')`)
        .addCheckConstraint('run_closed_has_time', sql`(closed_at is not null) = (status = 'closed')`)
        .addCheckConstraint('run_ended_has_outcome', sql`(outcome is null) = (status = 'live')`),
    ),
    // One open run for each task: a second live run cannot be written.
    schema
      .createIndex('run_one_open')
      .unique()
      .on('run')
      .column('task_id')
      .where(sql.ref('status'), '<>', sql`'closed'`),
    schema.createIndex('run_open').on('run').column('instance_id').where(sql.ref('status'), '<>', sql`'closed'`),
    schema
      .createIndex('run_timer')
      .on('run')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null)
      .where(sql.ref('status'), '=', sql`'live'`),
  ]
}

function callTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  const { schema } = db
  return [
    strict(
      schema
        .createTable('call')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('run', integer, (column) => column.notNull())
        .addColumn('attempt', integer, (column) => column.notNull())
        .addColumn('kind', 'text', (column) =>
          column.notNull().check(sql`kind in ('call', 'ask', 'wait', 'sleep', 'spawn')`),
        )
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
        .addCheckConstraint('call_failed_has_error', sql`(error is not null) = (status = 'failed')`)
        .addCheckConstraint('call_due_is_open', sql`due_at is null or status in ('pending', 'in_progress')`),
    ),
    schema.createIndex('call_of_task').on('call').columns(['task_id', 'seq']),
    schema
      .createIndex('call_open')
      .on('call')
      .column('task_id')
      .where(sql.ref('status'), 'in', sql`('pending', 'in_progress')`),
    schema.createIndex('call_timer').on('call').column('due_at').where(sql.ref('due_at'), 'is not', null),
  ]
}

function messageTable({ db, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('message')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('n', integer, (column) => column.notNull().check(sql`n >= 1`))
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('role', 'text', (column) =>
          column.notNull().check(sql`role in ('system', 'user', 'assistant', 'tool')`),
        )
        .addColumn('content', 'text', (column) => column.notNull())
        .addColumn('announcement', integer, (column) => column.notNull().check(sql`announcement in (0, 1)`))
        .addColumn('run', integer)
        .addColumn('ident', 'text')
        .addColumn('ordinal', integer, (column) => column.notNull())
        .addColumn('timestamp', integer, (column) => column.notNull())
        .addPrimaryKeyConstraint('message_key', ['task_id', 'n']),
    ),
  ]
}

function eventTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('event')
        .addColumn('seq', risingType, rising)
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('at', integer, (column) => column.notNull())
        .addColumn('instance_id', 'text', (column) => column.notNull())
        .addColumn('data', 'text', (column) => column.notNull()),
    ),
    db.schema.createIndex('event_of_task').on('event').columns(['task_id', 'seq']),
  ]
}

function instanceTable({ db, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('instance')
        .addColumn('id', 'text', (column) => column.notNull().primaryKey())
        .addColumn('pid', integer, (column) => column.notNull())
        .addColumn('host', 'text', (column) => column.notNull())
        .addColumn('started_at', integer, (column) => column.notNull())
        .addColumn('ended_at', integer),
    ),
    db.schema.createIndex('instance_open').on('instance').column('started_at').where(sql.ref('ended_at'), 'is', null),
  ]
}

/** What no writer may do, through any connection: revive a terminal task, take back an outcome, rewrite history. */
function guards({ kind, db }: Spelling): Compilable[] {
  const rules: Array<{ name: string; table: string; on: string; when: string; message: string }> = [
    {
      name: 'task_stays_terminal',
      table: 'task',
      on: 'update of status',
      when: `old.status in ('completed', 'canceled') and new.status <> old.status`,
      message: 'a completed or canceled task never changes its status',
    },
    {
      name: 'call_keeps_its_outcome',
      table: 'call',
      on: 'update of status',
      when: `old.status in ('completed', 'failed') or (old.status = 'in_progress' and new.status = 'pending')`,
      message: 'a call never takes back its outcome',
    },
    { name: 'message_is_immutable', table: 'message', on: 'update', when: '', message: 'a message never changes' },
    { name: 'message_is_kept', table: 'message', on: 'delete', when: '', message: 'a message is never deleted' },
    { name: 'event_is_immutable', table: 'event', on: 'update', when: '', message: 'an event never changes' },
  ]
  return rules.flatMap(({ name, table, on, when, message }) => {
    const condition = when ? ` when (${when})` : ''
    if (kind === 'sqlite') {
      return [
        sql.raw(
          `create trigger ${name} before ${on} on "${table}"${condition} begin select raise(abort, '${message}'); end`,
        ),
      ].map((raw) => ({ compile: () => raw.compile(db) }))
    }
    return [
      sql.raw(
        `create function ${name}() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$`,
      ),
      sql.raw(`create trigger ${name} before ${on} on "${table}" for each row${condition} execute function ${name}()`),
    ].map((raw) => ({ compile: () => raw.compile(db) }))
  }) as Compilable[]
}
