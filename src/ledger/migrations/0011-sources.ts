// Who stated a fact or an observation. Of those of earlier versions it is not known.
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
