// Facts are searched by the beginning of their id, which is a range of texts. On PostgreSQL its ends depend on the locale of the database
// unless the column is in the order of its bytes.
import type { Migration } from './migration.ts'

export const factIdsByBytes: Migration = {
  name: 'fact ids by bytes',
  statements: ({ kind, db, orderedText }) =>
    kind === 'sqlite'
      ? []
      : [db.schema.alterTable('fact').alterColumn('id', (column) => column.setDataType(orderedText as never))],
}
