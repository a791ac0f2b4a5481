// The team of a task on which several agents work: its objectives, and the stints of its agents.
import { type Compilable, sql } from 'kysely'
import { required, type Spelling } from './migration.ts'

export function teamTables(spelling: Spelling): Compilable[] {
  return [...team(spelling), ...stint(spelling)]
}

function team({ db: { schema }, integer, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('team')
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
    ),
    schema.createIndex('team_of_type').on('team').column('type'),
    schema.createIndex('team_below').on('team').column('parent_branch'),
    schema.createIndex('team_unclosed').on('team').column('task_id').where(sql.ref('closed_at'), 'is', null),
    strict(
      schema
        .createTable('objective')
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('description', 'text', required)
        .addColumn('status', 'text', (column) =>
          column.notNull().check(sql`status in ('todo', 'active', 'done', 'blocked')`),
        )
        .addColumn('agent_id', 'text')
        .addColumn('notes', 'text')
        .addColumn('updated_at', integer, required)
        .addPrimaryKeyConstraint('objective_key', ['task_id', 'number']),
    ),
  ]
}

/** `seq` belongs to this table alone: the order in which agents joined, also within a millisecond. */
function stint({ db: { schema }, integer, risingType, rising, strict }: Spelling): Compilable[] {
  return [
    strict(
      schema
        .createTable('stint')
        .addColumn('seq', risingType, rising)
        .addColumn('task_id', 'text', (column) => column.notNull().references('task.id'))
        .addColumn('agent_id', 'text', required)
        .addColumn('number', integer, (column) => column.notNull().check(sql`number >= 1`))
        .addColumn('role', 'text')
        .addColumn('branch', 'text', (column) => column.notNull().references('branch.name'))
        .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('active', 'completed')`))
        .addColumn('objectives', 'text', required)
        .addColumn('summary', 'text')
        .addColumn('worker_id', 'text')
        .addColumn('joined_at', integer, required)
        .addColumn('left_at', integer)
        .addUniqueConstraint('stint_key', ['task_id', 'agent_id', 'number'])
        .addCheckConstraint('stint_completed_has_time', sql`(left_at is not null) = (status = 'completed')`),
    ),
    // An agent works once at a time on a task: a second active stint cannot be written.
    schema
      .createIndex('stint_one_active')
      .unique()
      .on('stint')
      .columns(['task_id', 'agent_id'])
      .where(sql.ref('status'), '=', sql`'active'`),
    schema
      .createIndex('stint_of_worker')
      .on('stint')
      .column('worker_id')
      .where(sql<boolean>`status = 'active' and worker_id is not null`),
    schema.createIndex('stint_of_task').on('stint').columns(['task_id', 'seq']),
    schema.createIndex('stint_on').on('stint').column('branch'),
    schema.createIndex('stint_of_agent').on('stint').columns(['agent_id', 'seq']),
  ]
}
