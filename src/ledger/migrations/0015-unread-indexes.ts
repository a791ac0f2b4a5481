// Indexes that no statement reads are dropped: each transition of a task wrote `task_updated`, and each call and message wrote the others.
// SQLite gets its tables for the statistics of ANALYZE, empty. If another program ran ANALYZE and they did not exist, the schema would change,
// and open connections would read the schema again, with the statistics.
import { type Compilable, sql } from 'kysely'
import type { Migration } from './migration.ts'

const unread = ['task_created', 'task_updated', 'call_status', 'message_time', 'dependency_open']

export const unreadIndexes: Migration = {
  name: 'unread indexes',
  statements: ({ kind, db }) => [
    ...unread.map((name) => db.schema.dropIndex(name)),
    ...(kind === 'sqlite' ? ['analyze setting', 'delete from sqlite_stat1'] : []).map(
      (text) => ({ compile: () => sql.raw(text).compile(db) }) as Compilable,
    ),
  ],
}
