// A server plans a statement that is prepared only once, and again when autovacuum has looked at its tables, which it does once a minute.
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { taskRow } from '../../src/testing/factories.ts'
import { insertTasks, write } from '../../src/testing/ledger-contract/contract-world.ts'
import { adminOf } from './life.ts'
import { createLedger, type TestServer, testServer } from './server.ts'

const server = (await testServer()) as TestServer

describe.skipIf(server === undefined)('a statement that was planned while the ledger was small', () => {
  it('does not read whole tables when the ledger has grown', async () => {
    const url = await createLedger(server)
    const ledger = await openLedger(url)
    onTestFinished(() => ledger.close())
    const admin = await adminOf(url)
    await insertTasks(ledger, ...Array.from({ length: 60 }, (_, n) => `first-${n}`))
    await admin.query(`delete from task where id <> 'first-0'`)
    await admin.query('vacuum analyze task')
    const list = () => ledger.read((tx) => tx.task.list({}, 100))
    // The fifth execution is the last one with a plan of its own.
    for (let n = 0; n < 6; n++) await list()
    const grown = 3_000
    await write(ledger, function* (tx) {
      for (let n = 0; n < grown; n++) yield* tx.task.insert(taskRow({ id: `task-${n}` }))
    })
    for (let n = 0; n < 20; n++) expect(await list()).toHaveLength(100)
    await ledger.close()
    // A session reports what it has read before it is gone.
    const sessions = `select 1 from pg_stat_activity where datname = current_database() and application_name like 'errand %'`
    await expect.poll(async () => (await admin.query(sessions)).rows).toEqual([])
    const { rows } = await admin.query<{ rows: number }>(
      `select sum(idx_tup_read)::int4 as rows from pg_stat_user_indexes where relname = 'task'`,
    )
    expect(rows[0]?.rows).toBeGreaterThan(20 * 100)
    expect(rows[0]?.rows).toBeLessThan(2 * grown)
  })
})
