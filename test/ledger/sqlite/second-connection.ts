// A second connection to the file of a ledger, which commits in the middle of a step or read as another process could.
import { onTestFinished } from 'vitest'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import { connect } from '../../../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { createTables } from '../../../src/ledger/tables/tables.ts'
import { driveOn } from './migrated.ts'

/** Returns a function that commits work at once, without a turn of the event loop. */
export function openSecondConnection(file: string): (work: (tx: Tx) => Op<unknown>) => void {
  const connection = connect(file, { busyTimeoutMs: 0 })
  onTestFinished(() => connection.close())
  const tx = createTables(sqliteDialect)
  return (work) => {
    connection.execute('begin immediate')
    driveOn(connection, work(tx))
    connection.execute('commit')
  }
}
