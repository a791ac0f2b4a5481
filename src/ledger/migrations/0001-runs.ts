// What runs record: their journal, the conversations of tasks, the events of all tasks, the engines; and the settings of the ledger.
import { type Compilable, sql } from 'kysely'
import { liveRunStatuses, runStatuses } from '../../entities/run.ts'
import { checked, guardTrigger, raw, required, type Spelling } from './migration.ts'

export function runTables(spelling: Spelling): Compilable[] {
  return [
    ...runTable(spelling),
    ...callTable(spelling),
    ...messageTable(spelling),
    ...signalTable(spelling),
    ...eventTable(spelling),
    ...instanceTable(spelling),
    settingTable(spelling),
    ...runGuards(spelling),
  ]
}

function runTable({ integer, table, index, uniqueIndex }: Spelling): Compilable[] {
  const live = sql.join(liveRunStatuses.map((status) => sql.lit(status)))
  return [
    table('run')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('number', integer, required)
      .addColumn('generation', integer, required)
      .addColumn('attempt', integer, required)
      .addColumn('instance_id', 'text', required)
      .addColumn('status', 'text', checked(`status in (${runStatuses.map((status) => `'${status}'`).join(', ')})`))
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
      .addCheckConstraint('run_ended_has_time', sql`(ended_at is null) = (status in (${live}))`)
      .addCheckConstraint('run_closed_has_time', sql`(closed_at is not null) = (status = 'closed')`)
      .addCheckConstraint('run_ended_has_outcome', sql`(outcome is null) = (status in (${live}))`),
    // One open run for each task: a second live run cannot be written.
    uniqueIndex('run_one_open', 'run', 'task_id', `status <> 'closed'`),
    index('run_open', 'run', 'instance_id', `status <> 'closed'`),
    index('run_timer', 'run', 'due_at', `due_at is not null and status = 'live'`),
    index('run_queued', 'run', 'instance_id', `status = 'queued'`),
  ]
}

function callTable({ integer, numbered, index }: Spelling): Compilable[] {
  return [
    numbered('call')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      // The call whose function made it.
      .addColumn('parent_id', 'text')
      .addColumn('run', integer, required)
      .addColumn('generation', integer, required)
      .addColumn('attempt', integer, required)
      .addColumn(
        'kind',
        'text',
        checked(`kind in ('call', 'ask', 'wait', 'sleep', 'signal', 'race', 'spawn', 'value', 'machine')`),
      )
      .addColumn('name', 'text', required)
      .addColumn('ident', 'text', required)
      .addColumn('ordinal', integer, required)
      .addColumn('params', 'text', required)
      .addColumn('status', 'text', checked(`status in ('pending', 'in_progress', 'completed', 'failed')`))
      .addColumn('on_interrupt', 'text', checked(`on_interrupt in ('fail', 'rerun', 'ask')`))
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
    index('call_of_task', 'call', 'task_id, seq'),
    // What a later run finds again, however many generations came before.
    index('call_of_generation', 'call', 'task_id, generation, seq', 'generation > 1'),
    index('call_open', 'call', 'task_id', `status in ('pending', 'in_progress')`),
    index('call_timer', 'call', 'due_at', 'due_at is not null'),
  ]
}

function messageTable({ integer, table, index }: Spelling): Compilable[] {
  return [
    table('message')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('n', integer, checked('n >= 1'))
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('role', 'text', checked(`role in ('system', 'user', 'assistant', 'tool')`))
      .addColumn('content', 'text', required)
      .addColumn('announcement', integer, checked('announcement in (0, 1)'))
      .addColumn('run', integer)
      .addColumn('generation', integer)
      .addColumn('ident', 'text')
      .addColumn('ordinal', integer, required)
      // What a step of a model requested and cost.
      .addColumn('step', 'text')
      .addColumn('delivery', 'text', (column) => column.check(sql`delivery in ('abort', 'steer', 'followup')`))
      .addColumn('timestamp', integer, required)
      .addPrimaryKeyConstraint('message_key', ['task_id', 'n']),
    index('message_of_generation', 'message', 'task_id, generation, n', 'generation > 1 and ident is not null'),
    index('message_delivered', 'message', 'task_id, n', 'delivery is not null'),
  ]
}

function signalTable({ integer, numbered, index, uniqueIndex }: Spelling): Compilable[] {
  return [
    numbered('signal')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('name', 'text', required)
      .addColumn('sent_id', 'text')
      .addColumn('payload', 'text', required)
      .addColumn('created_at', integer, required)
      .addColumn('taken_by', 'text')
      .addCheckConstraint('signal_taken_has_no_payload', sql`taken_by is null or payload = 'null'`),
    index('signal_of_task', 'signal', 'task_id'),
    index('signal_kept', 'signal', 'task_id, name, seq', 'taken_by is null'),
    uniqueIndex('signal_sent', 'signal', 'task_id, name, sent_id', 'sent_id is not null'),
    // A wait takes one signal.
    uniqueIndex('signal_taken', 'signal', 'taken_by', 'taken_by is not null'),
  ]
}

/**
 * Starts and ends of tasks, which are counted over time. The planner uses the index only for this very
 * text (tables/event-counts.ts). For each event SQLite would build the set of an `in` anew, which takes three times as long.
 */
const isCounted = `(type = 'task.started' or type = 'task.completed' or type = 'task.failed' or type = 'task.canceled')`

/** True for system tasks, and for failures that another attempt follows: they are not counted. */
const isLeftOut = {
  sqlite: `case when json_valid(data) then coalesce(json_extract(data, '$.system'), json_extract(data, '$.willRetry'), 0) end`,
  postgres: `coalesce(data::jsonb ->> 'system', data::jsonb ->> 'willRetry', 'false')`,
}

function eventTable({ kind, integer, numbered, index }: Spelling): Compilable[] {
  return [
    numbered('event')
      .addColumn('type', 'text', required)
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('at', integer, required)
      .addColumn('instance_id', 'text', required)
      .addColumn('data', 'text', required),
    index('event_of_task', 'event', 'task_id, seq'),
    index('event_counted', 'event', `at, type, (${isLeftOut[kind]})`, isCounted),
  ]
}

function instanceTable({ integer, table, index }: Spelling): Compilable[] {
  return [
    table('instance')
      .addColumn('id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('pid', integer, required)
      .addColumn('host', 'text', required)
      .addColumn('started_at', integer, required)
      .addColumn('lease_until', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('ended_at', integer),
    index('instance_open', 'instance', 'started_at', 'ended_at is null'),
  ]
}

function settingTable({ table }: Spelling): Compilable {
  return table('setting')
    .addColumn('name', 'text', (column) => column.notNull().primaryKey())
    .addColumn('value', 'text', required)
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
      name: 'signal_is_taken_once',
      table: 'signal',
      on: 'update',
      when: 'old.taken_by is not null',
      message: 'a signal that was taken never changes',
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
