// How many tasks models have created below a task. What they created in earlier versions is not counted.
import type { Migration } from './migration.ts'

export const madeBelow: Migration = {
  name: 'made below',
  statements: ({ db, integer }) => [
    db.schema.alterTable('task').addColumn('made_below', integer, (column) => column.notNull().defaultTo(0)),
  ],
}
