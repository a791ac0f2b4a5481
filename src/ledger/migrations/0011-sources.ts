// The source of a fact or an observation; unknown for those of earlier versions.
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const sources: Migration = {
  name: 'sources',
  statements: ({ db }) => [
    db.schema
      .alterTable('observation')
      .addColumn('stated_by', 'text', (column) => column.notNull().defaultTo(sql`'{"kind":"unknown"}'`)),
    db.schema
      .alterTable('fact')
      .addColumn('stated_by', 'text', (column) => column.notNull().defaultTo(sql`'[{"kind":"unknown"}]'`)),
  ],
}
