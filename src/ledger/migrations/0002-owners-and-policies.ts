// Work done outside the engine (claims with a fence and a lease), deadlines, lanes, limits on trees, leases of engines, settings.
import { type Compilable, sql } from 'kysely'
import type { Migration, Spelling } from './migration.ts'

export const ownersAndPolicies: Migration = {
  name: 'owners and policies',
  statements: (spelling) => [
    ...taskColumns(spelling),
    ...taskIndexes(spelling),
    ...treeNumbers(spelling),
    ...otherTables(spelling),
    ...purgeMayDelete(spelling),
  ],
}

function taskColumns({ db, integer }: Spelling): Compilable[] {
  const task = db.schema.alterTable('task')
  const flag = (name: string) =>
    task.addColumn(name, integer, (column) =>
      column
        .notNull()
        .defaultTo(0)
        .check(sql`${sql.ref(name)} in (0, 1)`),
    )
  const count = (name: string) => task.addColumn(name, integer, (column) => column.notNull().defaultTo(0))
  return [
    flag('claimable'),
    task.addColumn('lane', 'text', (column) => column.notNull().defaultTo('')),
    count('depth'),
    count('child_count'),
    count('fence'),
    task.addColumn('lease_ms', integer),
    task.addColumn('lease_until', integer),
    task.addColumn('role', 'text'),
    task.addColumn('tags', 'text', (column) => column.notNull().defaultTo('[]')),
    task.addColumn('deadline', integer),
  ]
}

function taskIndexes({ db }: Spelling): Compilable[] {
  const { schema } = db
  return [
    schema.dropIndex('task_ready'),
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
    schema
      .createIndex('task_claimable')
      .on('task')
      .expression(sql`priority desc, seq`)
      .where(sql.ref('claimable'), '=', sql`1`),
    schema.createIndex('task_lease').on('task').column('lease_until').where(sql.ref('lease_until'), 'is not', null),
    schema
      .createIndex('task_deadline')
      .on('task')
      .column('deadline')
      .where(sql.ref('deadline'), 'is not', null)
      .where(sql.ref('completed_at'), 'is', null),
    // Every edge to a task: purge removes them with the task, and foreign keys require them.
    schema.createIndex('dependency_on').on('dependency').column('blocker_id'),
    schema.dropIndex('dependency_awaited'),
    schema
      .createIndex('task_settled_root')
      .on('task')
      .columns(['completed_at', 'seq'])
      .where(sql.ref('parent_id'), 'is', null)
      .where(sql.ref('completed_at'), 'is not', null),
  ]
}

/** The values that the columns would have if they had existed from the beginning. */
function treeNumbers({ db }: Spelling): Compilable[] {
  const raw = (text: string): Compilable => ({ compile: () => sql.raw(text).compile(db) }) as Compilable
  return [
    raw(`with recursive placed(id, depth) as (
           select id, 0 from task where parent_id is null
           union all
           select task.id, placed.depth + 1 from task join placed on task.parent_id = placed.id
         )
         update task set depth = placed.depth from placed where placed.id = task.id and placed.depth > 0`),
    raw(`update task set child_count = family.size
         from (select parent_id, count(*) as size from task where parent_id is not null group by parent_id) as family
         where family.parent_id = task.id`),
    raw(`update task set claimable = 1
         where executor is null and is_group = 0 and deleted_at is null and open_blockers = 0 and not_before is null
           and (status = 'submitted' or (status = 'waiting' and status_reason in ('interrupted', 'released')))`),
  ]
}

function otherTables({ db, integer, strict }: Spelling): Compilable[] {
  return [
    db.schema.alterTable('instance').addColumn('lease_until', integer, (column) => column.notNull().defaultTo(0)),
    strict(
      db.schema
        .createTable('setting')
        .addColumn('name', 'text', (column) => column.notNull().primaryKey())
        .addColumn('value', 'text', (column) => column.notNull()),
    ),
  ]
}

/** Messages are deleted with their whole family, and only by purge: not while their task lives. They still never change. */
function purgeMayDelete({ kind, db }: Spelling): Compilable[] {
  const message = 'a message is never deleted while its task is open'
  const open = `exists (select 1 from task where task.id = old.task_id and task.completed_at is null)`
  const texts =
    kind === 'sqlite'
      ? [
          'drop trigger message_is_kept',
          `create trigger message_is_kept before delete on "message" when ${open} begin select raise(abort, '${message}'); end`,
        ]
      : [
          'drop trigger message_is_kept on "message"',
          `create or replace function message_is_kept() returns trigger language plpgsql as $$ begin if ${open} then raise exception '${message}'; end if; return old; end $$`,
          `create trigger message_is_kept before delete on "message" for each row execute function message_is_kept()`,
        ]
  return texts.map((text) => ({ compile: () => sql.raw(text).compile(db) }) as Compilable)
}
