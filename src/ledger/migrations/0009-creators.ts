// Who created a task. Of tasks of earlier versions nobody knows.
import type { Migration } from './migration.ts'

export const creators: Migration = {
  name: 'creators',
  statements: ({ db }) => [db.schema.alterTable('task').addColumn('created_by', 'text')],
}
