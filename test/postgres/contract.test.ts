// The ledger contract on a real PostgreSQL server. Each test empties the same database, because creating one takes longer than most tests.
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { ledgerContract, openLedger } from '../../src/testing/index.ts'
import { createDatabase, testServer } from './server.ts'

const server = await testServer()
let database: { url: string; admin: pg.Client } | undefined

/** Deletes the few rows of a test, which takes less time than to truncate all tables. Their triggers would refuse it. */
const emptying = `do $$ declare name text; begin
  set local session_replication_role = replica;
  for name in select quote_ident(table_name) from information_schema.tables
    where table_schema = 'public' and table_name not in ('ledger_version', 'branch') loop
    execute 'delete from ' || name;
  end loop;
  delete from branch where branch.name <> 'main';
  for name in select quote_ident(sequencename) from pg_sequences where schemaname = 'public' loop
    perform setval(name::regclass, 1, false);
  end loop;
  perform setval('branch_seq_seq', 1);
end $$`

/** The URL of a database with empty tables, the first branch only, and all sequences at 1. */
async function openEmptied(): Promise<string> {
  if (database === undefined) {
    const url = await createDatabase(server as NonNullable<typeof server>)
    database = { url, admin: new pg.Client({ connectionString: url }) }
    await database.admin.connect()
    return url
  }
  const { admin, url } = database
  await admin.query(emptying)
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
