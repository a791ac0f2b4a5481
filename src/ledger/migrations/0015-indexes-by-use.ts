// Indexes that no statement reads are dropped: each transition of a task wrote `task_updated`, and each call and message wrote the others.
// The workspaces that are bound to tasks get one: a claim with a workspace read the whole board. SQLite gets its tables for the statistics of
// ANALYZE, empty. If another program ran ANALYZE and they did not exist, the schema would change, and open connections would read the schema
// again, with the statistics.
import { type Compilable, sql } from 'kysely'
import type { Migration } from './migration.ts'

const unread = ['task_created', 'task_updated', 'call_status', 'message_time', 'dependency_open']

/** The planner uses the index for this text only, so a migration never changes it. */
const workspace = {
  sqlite: sql`case when json_valid(fields) then json_extract(fields, '$.workspace') end`,
  postgres: sql`(fields::jsonb ->> 'workspace')`,
}

export const indexesByUse: Migration = {
  name: 'indexes by use',
  statements: ({ kind, db }) => [
    ...unread.map((name) => db.schema.dropIndex(name)),
    db.schema
      .createIndex('board_workspace')
      .on('board_task')
      .expression(sql`board, ${workspace[kind]}`)
      .where(workspace[kind], 'is not', null),
    ...(kind === 'sqlite' ? ['analyze setting', 'delete from sqlite_stat1'] : []).map(
      (text) => ({ compile: () => sql.raw(text).compile(db) }) as Compilable,
    ),
  ],
}
