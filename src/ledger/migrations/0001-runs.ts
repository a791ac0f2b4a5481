// What runs record: their journal, the conversations of tasks, the events of all tasks, the engines; and the settings of the ledger.
import { type Compilable, sql } from 'kysely'
import { guardTrigger, raw, required, type Spelling } from './migration.ts'

export function runTables(spelling: Spelling): Compilable[] {
  return [
    ...runTable(spelling),
    ...callTable(spelling),
    ...messageTable(spelling),
    ...eventTable(spelling),
    ...instanceTable(spelling),
    settingTable(spelling),
    ...runGuards(spelling),
  ]
}

function runTable({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('run')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('number', integer, required)
        .addColumn('attempt', integer, required)
        .addColumn('instance_id', 'text', required)
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('live', 'ending', 'closed')`))
        .addColumn('outcome', 'text', (column) =>
          column.check(
            sql`outcome in ('completed', 'failed', 'paused', 'canceled', 'input_required', 'waiting', 'interrupted', 'released')`,
          ),
        )
        .addColumn('error', 'text')
        .addColumn('started_at', integer, required)
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

function callTable({ db: { schema }, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('call')
        .addColumn('seq', risingType, rising)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        // The call whose function made it.
        .addColumn('parent_id', 'text')
        .addColumn('run', integer, required)
        .addColumn('attempt', integer, required)
        .addColumn('kind', 'text', (column) =>
          column.notNull().check(sql`kind in ('call', 'ask', 'wait', 'sleep', 'spawn', 'value')`),
        )
        .addColumn('name', 'text', required)
        .addColumn('ident', 'text', required)
        .addColumn('ordinal', integer, required)
        .addColumn('params', 'text', required)
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('pending', 'in_progress', 'completed', 'failed')`),
        )
        .addColumn('on_interrupt', 'text', (column) =>
          column.notNull().check(sql`on_interrupt in ('fail', 'rerun', 'ask')`),
        )
        .addColumn('details', 'text', required)
        .addColumn('result', 'text', required)
        // Why the result of a completed call could not be recorded.
        .addColumn('result_lost', 'text')
        .addColumn('error', 'text')
        // No foreign keys: a purge would have to look for calls of each message it removes. Both are written in one transaction.
        .addColumn('start_message_id', 'text')
        .addColumn('end_message_id', 'text')
        .addColumn('due_at', integer)
        .addColumn('created_at', integer, required)
        .addColumn('updated_at', integer, required)
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
        .addColumn('content', 'text', required)
        .addColumn('announcement', integer, (column) => column.notNull().check(sql`announcement in (0, 1)`))
        .addColumn('run', integer)
        .addColumn('ident', 'text')
        .addColumn('ordinal', integer, required)
        // What a step of a model requested and cost.
        .addColumn('step', 'text')
        .addColumn('delivery', 'text', (column) => column.check(sql`delivery in ('abort', 'steer', 'followup')`))
        .addColumn('timestamp', integer, required)
        .addPrimaryKeyConstraint('message_key', ['task_id', 'n']),
    ),
    db.schema
      .createIndex('message_delivered')
      .on('message')
      .columns(['task_id', 'n'])
      .where(sql.ref('delivery'), 'is not', null),
  ]
}

function eventTable({ db, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      db.schema
        .createTable('event')
        .addColumn('seq', risingType, rising)
        .addColumn('type', 'text', required)
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('at', integer, required)
        .addColumn('instance_id', 'text', required)
        .addColumn('data', 'text', required),
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
        .addColumn('pid', integer, required)
        .addColumn('host', 'text', required)
        .addColumn('started_at', integer, required)
        .addColumn('lease_until', integer, (column) => column.notNull().defaultTo(0))
        .addColumn('ended_at', integer),
    ),
    db.schema.createIndex('instance_open').on('instance').column('started_at').where(sql.ref('ended_at'), 'is', null),
  ]
}

function settingTable({ db, strict }: Spelling): Compilable {
  return strict(
    db.schema
      .createTable('setting')
      .addColumn('name', 'text', (column) => column.notNull().primaryKey())
      .addColumn('value', 'text', required),
  )
}

/** No call takes back its outcome, and history is not rewritten. */
function runGuards(spelling: Spelling): Compilable[] {
  return [
    ...guardTrigger(spelling, {
      name: 'call_keeps_its_outcome',
      table: 'call',
      on: 'update of status',
      when: `old.status in ('completed', 'failed') or (old.status = 'in_progress' and new.status = 'pending')`,
      message: 'a call never takes back its outcome',
    }),
    ...guardTrigger(spelling, {
      name: 'message_is_immutable',
      table: 'message',
      on: 'update',
      message: 'a message never changes',
    }),
    ...messageIsKept(spelling),
    ...guardTrigger(spelling, {
      name: 'event_is_immutable',
      table: 'event',
      on: 'update',
      message: 'an event never changes',
    }),
  ]
}

/** Messages are deleted with their whole family by a purge. PostgreSQL allows no subquery in the condition of a trigger. */
function messageIsKept({ kind, db }: Spelling): Compilable[] {
  const message = 'a message is never deleted while its task is open'
  const open = `exists (select 1 from task where task.id = old.task_id and task.completed_at is null)`
  const texts =
    kind === 'sqlite'
      ? [
          `create trigger message_is_kept before delete on "message" when ${open} begin select raise(abort, '${message}'); end`,
        ]
      : [
          `create function message_is_kept() returns trigger language plpgsql as $$ begin if ${open} then raise exception '${message}'; end if; return old; end $$`,
          `create trigger message_is_kept before delete on "message" for each row execute function message_is_kept()`,
        ]
  return texts.map((text) => raw(db, text))
}
