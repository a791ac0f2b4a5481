// Tasks and the edges between them. The CHECKs repeat the states as literals; a test compares them with the table of machines/.
import { type ColumnDefinitionBuilder, type Compilable, sql } from 'kysely'
import { guardTrigger, required, type Spelling } from './migration.ts'

const statuses = sql.raw(
  `'submitted', 'working', 'paused', 'input_required', 'waiting', 'completed', 'failed', 'canceled'`,
)
const settled = sql.raw(`'completed', 'failed', 'canceled'`)

export function taskTables(spelling: Spelling): Compilable[] {
  return [taskTable(spelling), ...taskIndexes(spelling), ...dependencyTable(spelling), purgingTable(spelling)].concat(
    guardTrigger(spelling, {
      name: 'task_stays_terminal',
      table: 'task',
      on: 'update of status',
      when: `old.status in ('completed', 'canceled') and new.status <> old.status`,
      message: 'a completed or canceled task never changes its status',
    }),
  )
}

const flag = (name: string) => (column: ColumnDefinitionBuilder) =>
  column.notNull().check(sql`${sql.raw(name)} in (0, 1)`)

function taskTable({ db: { schema }, integer, orderedText, risingType, rising, strict }: Spelling): Compilable {
  return strict(
    schema
      .createTable('task')
      .addColumn('seq', risingType, rising)
      .addColumn('id', orderedText, (column) => column.notNull().unique())
      .addColumn('key', orderedText, (column) => column.unique())
      .addColumn('name', 'text', required)
      .addColumn('goal', 'text')
      .addColumn('description', 'text', required)
      .addColumn('status', 'text', (column) => column.notNull().check(sql`status in (${statuses})`))
      .addColumn('status_reason', 'text')
      .addColumn('is_group', integer, flag('is_group'))
      .addColumn('ready', integer, flag('ready'))
      .addColumn('claimable', integer, (column) => flag('claimable')(column).defaultTo(0))
      .addColumn('held', integer, flag('held'))
      .addColumn('executor', 'text')
      .addColumn('role', 'text')
      .addColumn('owner', 'text')
      .addColumn('tags', 'text', (column) => column.notNull().defaultTo('[]'))
      .addColumn('input', 'text', required)
      .addColumn('result', 'text', required)
      .addColumn('error', 'text')
      .addColumn('priority', integer, required)
      .addColumn('lane', 'text', (column) => column.notNull().defaultTo(''))
      .addColumn('parent_id', 'text', (column) => column.references('task.id'))
      .addColumn('depth', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('child_count', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('made_below', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('attempt', integer, (column) => column.notNull().check(sql`attempt >= 1`))
      .addColumn('run', integer, (column) => column.notNull().check(sql`run >= 0`))
      .addColumn('run_open', integer, flag('run_open'))
      .addColumn('open_blockers', integer, (column) => column.notNull().check(sql`open_blockers >= 0`))
      .addColumn('stuck_by', 'text')
      .addColumn('wakes', integer, (column) => column.notNull().check(sql`wakes >= 0`))
      .addColumn('crashes', integer, required)
      .addColumn('fence', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('lease_ms', integer)
      .addColumn('lease_until', integer)
      .addColumn('not_before', integer)
      .addColumn('deadline', integer)
      .addColumn('policy', 'text', required)
      .addColumn('created_by', 'text')
      .addColumn('may_run_commands', integer, (column) => flag('may_run_commands')(column).defaultTo(1))
      .addColumn('metadata', 'text', required)
      .addColumn('progress', 'text')
      .addColumn('snapshot', 'text', required)
      .addColumn('version', integer, required)
      .addColumn('created_at', integer, required)
      .addColumn('updated_at', integer, required)
      .addColumn('completed_at', integer)
      .addColumn('deleted_at', integer)
      .addCheckConstraint('task_settled_has_time', sql`(completed_at is not null) = (status in (${settled}))`)
      .addCheckConstraint(
        'task_ready_is_free',
        sql`ready = 0 or (executor is not null and run_open = 0 and open_blockers = 0)`,
      )
      .addCheckConstraint('task_is_not_its_parent', sql`parent_id is null or parent_id <> id`),
  )
}

function taskIndexes(spelling: Spelling): Compilable[] {
  return [...familyIndexes(spelling), ...timeIndexes(spelling), ...queueIndexes(spelling)]
}

function familyIndexes({ db: { schema } }: Spelling): Compilable[] {
  return [
    schema
      .createIndex('task_child')
      .on('task')
      .columns(['parent_id', 'status'])
      .where(sql.ref('parent_id'), 'is not', null),
    schema
      .createIndex('task_movable')
      .on('task')
      .column('parent_id')
      .where(sql.ref('parent_id'), 'is not', null)
      .where(sql.ref('completed_at'), 'is', null)
      .where(sql.ref('stuck_by'), 'is', null)
      .where(sql.ref('deleted_at'), 'is', null),
    schema
      .createIndex('task_stuck_parent')
      .on('task')
      .column('parent_id')
      .where(sql.ref('completed_at'), 'is', null)
      .where(sql.ref('stuck_by'), 'is not', null)
      .where(sql.ref('deleted_at'), 'is', null)
      .where(sql.ref('child_count'), '>', sql`0`),
    schema
      .createIndex('task_settled_root')
      .on('task')
      .columns(['completed_at', 'seq'])
      .where(sql.ref('parent_id'), 'is', null)
      .where(sql.ref('completed_at'), 'is not', null),
  ]
}

function timeIndexes({ db: { schema } }: Spelling): Compilable[] {
  return [
    schema.createIndex('task_timer').on('task').column('not_before').where(sql.ref('not_before'), 'is not', null),
    schema.createIndex('task_lease').on('task').column('lease_until').where(sql.ref('lease_until'), 'is not', null),
    schema
      .createIndex('task_deadline')
      .on('task')
      .column('deadline')
      .where(sql.ref('deadline'), 'is not', null)
      .where(sql.ref('completed_at'), 'is', null),
  ]
}

/** The orders in which tasks are listed, admitted and claimed. */
function queueIndexes({ db: { schema } }: Spelling): Compilable[] {
  return [
    schema.createIndex('task_by_status').on('task').expression(sql`status, priority desc, seq`),
    schema
      .createIndex('task_ready')
      .on('task')
      .expression(sql`executor, lane, priority desc, seq`)
      .where(sql.ref('ready'), '=', sql`1`),
    schema
      .createIndex('task_ready_in_lanes')
      .on('task')
      .expression(sql`executor, priority desc, seq`)
      .where(sql.ref('ready'), '=', sql`1`)
      .where(sql.ref('lane'), '<>', sql`''`),
    schema
      .createIndex('task_in_lane')
      .on('task')
      .column('lane')
      .where(sql.ref('run_open'), '=', sql`1`)
      .where(sql.ref('lane'), '<>', sql`''`),
    // Finds the tasks that are suspected of crashing their engine among thousands of ready ones.
    schema
      .createIndex('task_suspected')
      .on('task')
      .expression(sql`executor, priority desc, seq`)
      .where(sql.ref('ready'), '=', sql`1`)
      .where(sql.ref('crashes'), '>', sql`0`),
    // In the order of claims for each role and owner, so that a claim does not read the tasks that are for others.
    schema
      .createIndex('task_claimable')
      .on('task')
      .expression(sql`role, owner, priority desc, seq`)
      .where(sql.ref('claimable'), '=', sql`1`),
  ]
}

function dependencyTable({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('dependency')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('blocker_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('after', 'wait')`))
        .addColumn('call_id', 'text', required)
        .addColumn('position', integer, required)
        .addColumn('satisfied_at', integer)
        .addColumn('created_at', integer, required)
        .addPrimaryKeyConstraint('dependency_key', ['task_id', 'blocker_id', 'call_id'])
        .addCheckConstraint('dependency_is_not_itself', sql`task_id <> blocker_id`),
    ),
    schema.createIndex('dependency_in_order').on('dependency').columns(['task_id', 'position']),
    schema.createIndex('dependency_wait').on('dependency').column('call_id').where(sql.ref('kind'), '=', sql`'wait'`),
    // Every edge to a task: purge removes them with the task, and foreign keys require them.
    schema.createIndex('dependency_on').on('dependency').column('blocker_id'),
  ]
}

/** The families that are being purged: hidden as soon as their root is listed here, while their rows leave in pieces. */
function purgingTable({ db: { schema }, integer, strict }: Spelling): Compilable {
  return strict(
    schema
      .createTable('purging')
      .addColumn('root_id', 'text', (column) => column.notNull().primaryKey().references('task.id'))
      .addColumn('through', integer, required),
  )
}
