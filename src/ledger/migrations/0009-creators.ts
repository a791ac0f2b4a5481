// The creator of a task; unknown for tasks of earlier versions.
import type { Migration } from './migration.ts'

export const creators: Migration = {
  name: 'creators',
  statements: ({ db }) => [db.schema.alterTable('task').addColumn('created_by', 'text')],
}
