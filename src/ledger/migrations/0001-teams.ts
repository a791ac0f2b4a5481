// The team of a task on which several agents work: its objectives, and the stints of its agents.
import { type Compilable, sql } from 'kysely'
import { checked, required, type Spelling } from './migration.ts'

export function teamTables(spelling: Spelling): Compilable[] {
  return [...team(spelling), ...stint(spelling)]
}

function team({ integer, table, index }: Spelling): Compilable[] {
  return [
    table('team')
      .addColumn('task_id', 'text', (column) => column.notNull().primaryKey().references('task.id'))
      .addColumn('type', 'text')
      .addColumn('branch', 'text', (column) => column.notNull().unique().references('branch.name'))
      .addColumn('parent_branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('durable_threshold', integer, (column) => column.check(sql`durable_threshold between 0 and 100`))
      .addColumn('durable_categories', 'text')
      .addColumn('summary', 'text')
      .addColumn('checkpoint_id', 'text')
      .addColumn('merge_id', 'text')
      .addColumn('closed_at', integer)
      .addColumn('created_at', integer, required),
    index('team_of_type', 'team', 'type'),
    index('team_below', 'team', 'parent_branch'),
    index('team_unclosed', 'team', 'task_id', 'closed_at is null'),
    table('objective')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('number', integer, checked('number >= 1'))
      .addColumn('description', 'text', required)
      .addColumn('status', 'text', checked(`status in ('todo', 'active', 'done', 'blocked')`))
      .addColumn('agent_id', 'text')
      .addColumn('notes', 'text')
      .addColumn('updated_at', integer, required)
      .addPrimaryKeyConstraint('objective_key', ['task_id', 'number']),
  ]
}

/** `seq` belongs to this table alone: the order in which agents joined, also within a millisecond. */
function stint({ integer, numbered, index, uniqueIndex }: Spelling): Compilable[] {
  return [
    numbered('stint')
      .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
      .addColumn('agent_id', 'text', required)
      .addColumn('number', integer, checked('number >= 1'))
      .addColumn('role', 'text')
      .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
      .addColumn('status', 'text', checked(`status in ('active', 'completed')`))
      .addColumn('objectives', 'text', required)
      .addColumn('summary', 'text')
      .addColumn('worker_id', 'text')
      .addColumn('joined_at', integer, required)
      .addColumn('left_at', integer)
      .addUniqueConstraint('stint_key', ['task_id', 'agent_id', 'number'])
      .addCheckConstraint('stint_completed_has_time', sql`(left_at is not null) = (status = 'completed')`),
    // An agent works once at a time on a task: a second active stint cannot be written.
    uniqueIndex('stint_one_active', 'stint', 'task_id, agent_id', `status = 'active'`),
    index('stint_of_worker', 'stint', 'worker_id', `status = 'active' and worker_id is not null`),
    index('stint_of_task', 'stint', 'task_id, seq'),
    index('stint_on', 'stint', 'branch'),
    index('stint_of_agent', 'stint', 'agent_id, seq'),
  ]
}
