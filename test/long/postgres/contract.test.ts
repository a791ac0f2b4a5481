// The ledger contract on a real PostgreSQL server. Each test empties the same database, and goes on with the connections of the one before:
// creating them takes longer than most tests.
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { openLedger } from '../../../src/testing/index.ts'
import { ledgerContract } from '../../ledger/contract/ledger-contract.ts'
import { createDatabase, testServer } from '../../postgres/server.ts'
import { emptied, keptOpen } from '../../postgres/shared-ledger.ts'

const server = await testServer()
let database: { url: string; admin: pg.Client } | undefined

/** The URL of a database with empty tables, the first branch only, and all sequences at 1. */
async function openEmptied(): Promise<string> {
  if (database === undefined) {
    const url = await createDatabase(server as NonNullable<typeof server>)
    database = { url, admin: new pg.Client({ connectionString: url }) }
    await database.admin.connect()
    return url
  }
  const { admin, url } = database
  await admin.query(emptied)
  return url
}

const ledgers = keptOpen(async () => {
  const url = await openEmptied()
  return () => openLedger(url)
})

afterAll(async () => {
  await ledgers.end()
  await database?.admin.end()
})

describe.skipIf(server === undefined)('X-017 a PostgreSQL server fulfills the ledger contract', () => {
  ledgerContract('a PostgreSQL server', ledgers.open, { describe, it, expect })
})
