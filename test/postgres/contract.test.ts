// The ledger contract on a real PostgreSQL server. Each test empties the same database, and goes on with the connections of the one before:
// creating them takes longer than most tests.
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'
import { ledgerContract, openLedger } from '../../src/testing/index.ts'
import { emptied } from './emptied.ts'
import { createDatabase, testServer } from './server.ts'

const server = await testServer()
let database: { url: string; admin: pg.Client } | undefined
let opened: Ledger | undefined

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

/** Closed for good by a test that closes it, and after one that has registered an engine, whose lock it would hold. */
async function openForTest(): Promise<{ ledger: Ledger; close: () => Promise<void> }> {
  const url = await openEmptied()
  opened ??= await openLedger(url)
  const inner = opened
  const close = async () => {
    if (opened === inner) opened = undefined
    await inner.close()
  }
  let isRegistered = false
  const ledger = delegateLedger(inner, {
    close,
    register(id) {
      isRegistered = true
      return inner.register(id)
    },
  })
  return { ledger, close: async () => void (isRegistered && (await close())) }
}

afterAll(async () => {
  await opened?.close()
  await database?.admin.end()
})

describe.skipIf(server === undefined)('X-017 a PostgreSQL server fulfills the ledger contract', () => {
  ledgerContract('a PostgreSQL server', openForTest, { describe, it, expect })
})
