// The ledger contract on a real PostgreSQL server. Each test empties the same database, because creating one takes longer than most tests.
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { ledgerContract, openLedger } from '../../src/testing/index.ts'
import { emptied } from './emptied.ts'
import { createDatabase, testServer } from './server.ts'

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

afterAll(async () => {
  await database?.admin.end()
})

describe.skipIf(server === undefined)('X-017 a PostgreSQL server fulfills the ledger contract', () => {
  ledgerContract(
    'a PostgreSQL server',
    async () => {
      const ledger = await openLedger(await openEmptied())
      return { ledger, close: () => ledger.close() }
    },
    { describe, it, expect },
  )
})
