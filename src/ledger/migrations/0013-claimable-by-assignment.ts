// Claimable tasks are in the order of claims for each role and owner that they are meant for: a claim read all those for others before.
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const claimableByAssignment: Migration = {
  name: 'claimable by assignment',
  statements: ({ db: { schema } }) => [
    schema.dropIndex('task_claimable'),
    schema
      .createIndex('task_claimable')
      .on('task')
      .expression(sql`role, owner, priority desc, seq`)
      .where(sql.ref('claimable'), '=', sql`1`),
  ],
}
