// A ledger behind a connection pool that gives each transaction another session (PgBouncer in transaction mode).
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'
import { taskRow } from '../../ledger/factories.ts'
import { startPool, type TestPool } from '../../postgres/pool.ts'
import { createDatabase, startServer, type TestServer, testServer, withSchema } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const server = (await testServer()) as TestServer
const pool = (server && (await startPool(server.url))) as TestPool
afterAll(() => pool?.stop())

async function open(url: string) {
  const engine = await createEngine({
    ledger: url,
    executors: {
      work: async (_task: unknown, run: { call(name: string, fn: () => unknown): Promise<unknown> }) =>
        await run.call('double', () => 2),
    },
    onError: () => {},
  })
  onTestFinished(() => engine.close())
  return engine
}

describe.skipIf(pool === undefined)('a ledger behind a connection pool', () => {
  it('is refused unless the URL also names the server, with what would help', async () => {
    const url = new URL(pool.urlOf(await createDatabase(server)))
    url.searchParams.delete('direct')
    await expect(openLedger(url.href)).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringMatching(/add \?direct= with its host and port/),
    })
  })

  it('is used by two engines, whose sessions at the server are fewer than theirs, and keeps its schema', async () => {
    const url = withSchema(await createDatabase(server), 'work')
    const engines = [await open(pool.urlOf(url)), await open(pool.urlOf(url))] as const
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        engines[n % 2 === 0 ? 0 : 1].create({ name: `task ${n}`, executor: 'work' }),
      ),
    )
    const settled = await Promise.all(created.map(({ id }) => engines[0].settled(id)))
    expect(settled.map(({ status }) => status)).toEqual(created.map(() => 'completed'))
    expect(await violationsIn(url)).toEqual([])
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      `select application_name as name, count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'errand%' group by 1 order by 1`,
    )
    await client.end()
    const own = ['errand heartbeat', 'errand watch']
    expect(rows.filter(({ name }) => own.includes(name))).toEqual(own.map((name) => ({ name, count: 2 })))
    const shared = rows.filter(({ name }) => !own.includes(name))
    expect(shared.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(3)
  })

  it('leaves no setting in the sessions that it shares with other programs', async () => {
    const url = withSchema(await createDatabase(server), 'work')
    const ledger = await openLedger(pool.urlOf(url))
    await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: 'a' })) })
    await ledger.read((tx) => tx.task.get('a'))
    const other = new pg.Client({ connectionString: pool.urlOf(url).replace(/\?.*/, '') })
    await other.connect()
    const { rows } = await other.query(
      `select current_setting('search_path') as path, current_setting('enable_seqscan') as scans, current_setting('lock_timeout') as waits`,
    )
    await other.end()
    await ledger.close()
    expect(rows).toEqual([{ path: '"$user", public', scans: 'on', waits: '0' }])
  })

  it.runIf(isFull)('is refused if the pool leads to another server than the URL names', async () => {
    const other = (await startServer()) as TestServer
    onTestFinished(() => other.stop())
    const url = new URL(pool.urlOf(await createDatabase(server)))
    url.pathname = '/postgres'
    url.searchParams.set('direct', new URL(other.url).host)
    await expect(openLedger(url.href)).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringMatching(/pool leads to another server or database/),
    })
  })

  it.runIf(isFull)('refuses steps while the pool hangs, and goes on when it answers again', async () => {
    const url = await createDatabase(server)
    const engine = await open(pool.urlOf(url))
    pool.hang()
    onTestFinished(() => pool.resume())
    await expect(engine.create({ name: 'refused' })).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
    pool.resume()
    await engine.create({ name: 'created' })
    const { tasks } = await engine.list()
    expect(tasks.map(({ name }) => name)).toEqual(['created'])
  })

  it.runIf(isFull)('goes on when the pool is restarted', async () => {
    const url = await createDatabase(server)
    const engine = await open(pool.urlOf(url))
    const ids = []
    for (let n = 0; n < 40; n++) {
      ids.push((await engine.create({ name: `task ${n}`, key: `task ${n}`, executor: 'work' })).id)
      if (n === 10) await pool.restart()
    }
    const settled = await Promise.all(ids.map((id) => engine.settled(id)))
    expect(settled.map(({ status }) => status)).toEqual(ids.map(() => 'completed'))
    expect(await violationsIn(url)).toEqual([])
  })
})
