// The families that are being purged: hidden as soon as their root is listed here, while their rows leave in pieces.
import type { Migration } from './migration.ts'

export const purging: Migration = {
  name: 'purging',
  statements: ({ db: { schema }, integer, strict }) => [
    strict(
      schema
        .createTable('purging')
        .addColumn('root_id', 'text', (column) => column.notNull().primaryKey().references('task.id'))
        .addColumn('through', integer, (column) => column.notNull()),
    ),
  ],
}
