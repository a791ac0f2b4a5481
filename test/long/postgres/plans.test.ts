// A server plans a prepared statement once, and again only after autovacuum, which looks at a table once a minute at most.
import { describe, expect, it, onTestFinished } from 'vitest'
import { wordsOf } from '../../../src/entities/fact-tokens.ts'
import type { Ledger, Op, Reads, Tx } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { write } from '../../ledger/contract/contract-world.ts'
import { eventRow, factRow, taskRow } from '../../ledger/factories.ts'
import { adminOf } from '../../postgres/life.ts'
import { createLedger, type TestServer, testServer } from '../../postgres/server.ts'

const server = (await testServer()) as TestServer
const reads = 20

/** How many index entries of a table so many reads look at in a ledger that had `small` records when they were planned. */
async function entriesRead(
  table: string,
  small: number,
  { read, insert }: { read: (tx: Reads) => Op<unknown[]>; insert: (tx: Tx, n: number) => Op<unknown> },
): Promise<number> {
  const url = await createLedger(server)
  const ledger: Ledger = await openLedger(url)
  onTestFinished(() => ledger.close())
  const admin = await adminOf(url)
  const fill = (from: number, to: number) =>
    write(ledger, function* (tx) {
      for (let n = from; n < to; n++) yield* insert(tx, n)
    })
  await fill(0, small)
  await admin.query(`vacuum analyze ${table}`)
  // The fifth execution is the last one with a plan of its own.
  for (let n = 0; n < 7; n++) await ledger.read(read)
  for (let n = 1; n <= 10; n++) await fill(small + (n - 1) * 150, small + n * 150)
  for (let n = 0; n < reads; n++) expect((await ledger.read(read)).length).toBeGreaterThan(0)
  await ledger.close()
  // A session reports what it has read before it is gone.
  const sessions = `select 1 from pg_stat_activity where datname = current_database() and application_name like 'errand %'`
  await expect.poll(async () => (await admin.query(sessions)).rows).toEqual([])
  const { rows } = await admin.query<{ entries: number }>(
    'select sum(idx_tup_read)::int4 as entries from pg_stat_user_indexes where relname = $1',
    [table],
  )
  return (rows[0] as { entries: number }).entries
}

describe.skipIf(server === undefined)('a statement that was planned while the ledger was small', () => {
  it('finds the tasks of a list by an index when there are more', async () => {
    const found = await entriesRead('task', 1, {
      read: (tx) => tx.task.list({}, 100),
      insert: (tx, n) => tx.task.insert(taskRow({ id: `task-${n}` })),
    })
    expect(found).toBeGreaterThan(reads * 100)
    expect(found).toBeLessThan(reads * 300)
  })

  it('finds the facts with a word by an index after events have shown that the ledger has grown', async () => {
    const text = (n: number) => `file${n} folder${n} owner${n}`
    const found = await entriesRead('fact_word', 20, {
      read: (tx) => tx.fact.candidates('main', wordsOf(text(0)), 0.5),
      *insert(tx, n) {
        if (n === 0) yield* tx.task.insert(taskRow({ id: 'task' }))
        yield* tx.fact.insert(factRow({ id: `fact-${n}`, text: text(n) }))
        yield* tx.event.append(eventRow({ taskId: 'task' }))
      },
    })
    expect(found).toBeLessThan(reads * 300)
  })
})
