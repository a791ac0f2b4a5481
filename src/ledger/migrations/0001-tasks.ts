// Tasks and the edges between them. The CHECKs repeat the states as literals; a test compares them with the table of machines/.
import { type Compilable, sql } from 'kysely'
import { checked, guardTrigger, required, type Spelling } from './migration.ts'

const settled = `'completed', 'failed', 'canceled'`
const statuses = `'submitted', 'working', 'paused', 'input_required', 'waiting', ${settled}`

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

function taskTable({ integer, orderedText, numbered }: Spelling): Compilable {
  return (
    numbered('task')
      .addColumn('id', orderedText, (column) => column.notNull().unique())
      .addColumn('key', orderedText, (column) => column.unique())
      .addColumn('name', 'text', required)
      .addColumn('goal', 'text')
      .addColumn('description', 'text', required)
      .addColumn('status', 'text', checked(`status in (${statuses})`))
      .addColumn('status_reason', 'text')
      .addColumn('is_group', integer, checked('is_group in (0, 1)'))
      .addColumn('ready', integer, checked('ready in (0, 1)'))
      .addColumn('claimable', integer, (column) => checked('claimable in (0, 1)')(column).defaultTo(0))
      .addColumn('held', integer, checked('held in (0, 1)'))
      .addColumn('system', integer, (column) => checked('system in (0, 1)')(column).defaultTo(0))
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
      // No foreign key: the original may be purged before its fork.
      .addColumn('forked_from', 'text')
      .addColumn('principal', 'text')
      .addColumn('depth', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('child_count', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('made_below', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('generation', integer, checked('generation >= 1'))
      .addColumn('attempt', integer, checked('attempt >= 1'))
      .addColumn('run', integer, checked('run >= 0'))
      .addColumn('run_open', integer, checked('run_open in (0, 1)'))
      .addColumn('open_blockers', integer, checked('open_blockers >= 0'))
      .addColumn('stuck_by', 'text')
      .addColumn('wakes', integer, checked('wakes >= 0'))
      .addColumn('crashes', integer, required)
      .addColumn('fence', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('lease_ms', integer)
      .addColumn('lease_until', integer)
      .addColumn('not_before', integer)
      .addColumn('deadline', integer)
      .addColumn('policy', 'text', required)
      .addColumn('created_by', 'text')
      .addColumn('may_run_commands', integer, (column) => checked('may_run_commands in (0, 1)')(column).defaultTo(1))
      .addColumn('metadata', 'text', required)
      .addColumn('progress', 'text')
      .addColumn('snapshot', 'text', required)
      .addColumn('version', integer, required)
      .addColumn('created_at', integer, required)
      .addColumn('updated_at', integer, required)
      .addColumn('started_at', integer)
      .addColumn('completed_at', integer)
      .addColumn('deleted_at', integer)
      .addCheckConstraint('task_settled_has_time', sql`(completed_at is not null) = (status in (${sql.raw(settled)}))`)
      .addCheckConstraint(
        'task_ready_is_free',
        sql`ready = 0 or (executor is not null and run_open = 0 and open_blockers = 0)`,
      )
      .addCheckConstraint('task_is_not_its_parent', sql`parent_id is null or parent_id <> id`)
  )
}

function taskIndexes(spelling: Spelling): Compilable[] {
  return [...familyIndexes(spelling), ...timeIndexes(spelling), ...queueIndexes(spelling)]
}

function familyIndexes({ index }: Spelling): Compilable[] {
  return [
    index('task_child', 'task', 'parent_id, status', 'parent_id is not null'),
    index(
      'task_movable',
      'task',
      'parent_id',
      'parent_id is not null and completed_at is null and stuck_by is null and deleted_at is null',
    ),
    index(
      'task_stuck_parent',
      'task',
      'parent_id',
      'completed_at is null and stuck_by is not null and deleted_at is null and child_count > 0',
    ),
    index('task_fork', 'task', 'forked_from', 'forked_from is not null'),
    index('task_of_principal', 'task', 'principal, seq', 'principal is not null'),
    index('task_settled_root', 'task', 'completed_at, seq', 'parent_id is null and completed_at is not null'),
  ]
}

function timeIndexes({ index }: Spelling): Compilable[] {
  return [
    index('task_timer', 'task', 'not_before', 'not_before is not null'),
    index('task_lease', 'task', 'lease_until', 'lease_until is not null'),
    index('task_deadline', 'task', 'deadline', 'deadline is not null and completed_at is null'),
  ]
}

/** The orders in which tasks are listed, admitted and claimed. */
function queueIndexes({ index }: Spelling): Compilable[] {
  return [
    index('task_by_status', 'task', 'status, priority desc, seq'),
    index('task_ready', 'task', 'executor, lane, priority desc, seq', 'ready = 1'),
    index('task_ready_system', 'task', 'executor, priority desc, seq', 'ready = 1 and system = 1'),
    index('task_ready_in_lanes', 'task', 'executor, priority desc, seq', `ready = 1 and lane <> ''`),
    index('task_in_lane', 'task', 'lane', `run_open = 1 and lane <> ''`),
    // Finds the tasks that are suspected of crashing their engine among thousands of ready ones.
    index('task_suspected', 'task', 'executor, priority desc, seq', 'ready = 1 and crashes > 0'),
    // In the order of claims for each role and owner, so that a claim does not read the tasks that are for others.
    index('task_claimable', 'task', 'role, owner, priority desc, seq', 'claimable = 1'),
  ]
}

function dependencyTable({ integer, table, index }: Spelling): Compilable[] {
  return [
    table('dependency')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('blocker_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('kind', 'text', checked(`kind in ('after', 'wait')`))
      .addColumn('call_id', 'text', required)
      .addColumn('position', integer, required)
      .addColumn('satisfied_at', integer)
      .addColumn('created_at', integer, required)
      .addPrimaryKeyConstraint('dependency_key', ['task_id', 'blocker_id', 'call_id'])
      .addCheckConstraint('dependency_is_not_itself', sql`task_id <> blocker_id`),
    index('dependency_in_order', 'dependency', 'task_id, position'),
    index('dependency_wait', 'dependency', 'call_id', `kind = 'wait'`),
    // Every edge to a task: purge removes them with the task, and foreign keys require them.
    index('dependency_on', 'dependency', 'blocker_id'),
  ]
}

/** The roots of families whose rows are being removed: nothing in them may live again. */
function purgingTable({ table }: Spelling): Compilable {
  return table('purging').addColumn('root_id', 'text', (column) => column.notNull().primaryKey().references('task.id'))
}
