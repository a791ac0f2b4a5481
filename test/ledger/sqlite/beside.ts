// A connection beside a ledger, which commits in the middle of whatever the ledger does: another process, at the worst moment.
import { onTestFinished } from 'vitest'
import { connect } from '../../../src/ledger/dialects/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/dialects/sqlite/dialect.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import { createTables } from '../../../src/ledger/tables/tables.ts'
import { driveOn } from './migrated.ts'

/** Commits work at once, without a turn of the event loop. */
export function openBeside(file: string): (work: (tx: Tx) => Op<unknown>) => void {
  const connection = connect(file, { busyTimeoutMs: 0 })
  onTestFinished(() => connection.close())
  const tx = createTables(sqliteDialect)
  return (work) => {
    connection.execute('begin immediate')
    driveOn(connection, work(tx))
    connection.execute('commit')
  }
}
