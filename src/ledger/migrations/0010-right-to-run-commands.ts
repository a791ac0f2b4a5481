// Whether the creator of a task may run commands. Tasks of earlier versions count as created by the owner of the ledger, who may.
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const rightToRunCommands: Migration = {
  name: 'right to run commands',
  statements: ({ db, integer }) => [
    db.schema
      .alterTable('task')
      .addColumn('may_run_commands', integer, (column) =>
        column.notNull().defaultTo(1).check(sql`may_run_commands in (0, 1)`),
      ),
  ],
}
