// A migrated ledger in memory whose tables are called directly, without steps, so that a test sees their statements.
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Op } from '../../../src/ledger/ledger.ts'
import type { Connection } from '../../../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { openFile } from '../../../src/ledger/sqlite/open-file.ts'
import { type Asked, answered, type Request } from '../../../src/ledger/statement.ts'
import { createTables } from '../../../src/ledger/tables/tables.ts'

export async function migrated() {
  const { connection } = await openFile(':memory:', systemClock, () => 0.5)
  onTestFinished(() => connection.close())
  const tx = createTables(sqliteDialect)
  const rows = (sql: string) =>
    connection.run({ sql, parameters: [], want: 'rows' }) as Array<Record<string, string | null>>
  const drive = <R>(op: Op<R>, seen: Request[] = []): R => driveOn(connection, op, seen)
  return { connection, tx, rows, drive }
}

/** Runs the statements of an operation on a connection, without a transaction. */
export function driveOn<R>(connection: Connection, op: Op<R>, seen: Request[] = []): R {
  let next = op.next()
  while (!next.done) {
    next = op.next(
      answered(next.value as Asked, (request) => {
        seen.push(request)
        return connection.run(request)
      }),
    )
  }
  return next.value
}
