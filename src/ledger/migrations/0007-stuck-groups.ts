// Groups fail when nothing in them can move. A column records which tasks cannot. A ledger with open tasks is judged once, by the first
// engine that opens it (steps/judge-old-groups.ts), because a group that fails has events and relatives.
import { type Compilable, sql } from 'kysely'
import type { Migration } from './migration.ts'

export const stuckGroups: Migration = {
  name: 'stuck groups',
  statements: ({ db }) => [
    db.schema.alterTable('task').addColumn('stuck_by', 'text'),
    db.schema
      .createIndex('task_movable')
      .on('task')
      .column('parent_id')
      .where(sql.ref('parent_id'), 'is not', null)
      .where(sql.ref('completed_at'), 'is', null)
      .where(sql.ref('stuck_by'), 'is', null)
      .where(sql.ref('deleted_at'), 'is', null),
    db.schema
      .createIndex('task_stuck_parent')
      .on('task')
      .column('parent_id')
      .where(sql.ref('completed_at'), 'is', null)
      .where(sql.ref('stuck_by'), 'is not', null)
      .where(sql.ref('deleted_at'), 'is', null)
      .where(sql.ref('child_count'), '>', sql`0`),
    {
      compile: () =>
        sql
          .raw(
            `insert into setting (name, value) select 'stuck groups', '"unjudged"'
             where exists (select 1 from task where completed_at is null)`,
          )
          .compile(db),
    } as Compilable,
  ],
}
