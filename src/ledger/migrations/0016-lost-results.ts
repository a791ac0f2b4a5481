// Why the result of a completed call could not be recorded; null if it was.
import type { Migration } from './migration.ts'

export const lostResults: Migration = {
  name: 'lost results',
  statements: ({ db }) => [db.schema.alterTable('call').addColumn('result_lost', 'text')],
}
