// What became of a commit whose answer was lost, on a server that has crashed since, or waits for a standby.
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { type Clock, steadyClock } from '../../../src/core/clock.ts'
import { CommitFailed } from '../../../src/ledger/group-commit.ts'
import { confirmOn, type Sent, type Witnesses, wasCommitted } from '../../../src/ledger/postgres/commit-outcome.ts'
import { ServerConnection } from '../../../src/ledger/postgres/server-connection.ts'
import { ServerHistory } from '../../../src/ledger/postgres/server-history.ts'
import { parseServerUrl } from '../../../src/ledger/postgres/server-url.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { eventRow, taskRow } from '../../ledger/factories.ts'
import { createDatabase, startServer, type TestServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

/** They take some time, and servers of their own. */
const isOffered = isFull && !process.env['ERRAND_PG_URL']

/** A ledger with one event, on a server of its own, and the connection that is asked about commits. */
async function open() {
  const server = (await startServer({ fsync: true })) as TestServer
  onTestFinished(() => server.stop())
  const url = await createDatabase(server)
  const ledger = await openLedger(url)
  const event = eventRow({ taskId: 'task-stored' })
  await ledger.step({
    name: 'add',
    *decide(tx) {
      yield* tx.task.insert(taskRow({ id: 'task-stored' }))
      yield* tx.event.append(event)
    },
  })
  await ledger.close()
  const target = parseServerUrl(url)
  const connection = new ServerConnection(target, { title: 'errand watch', settings: {} })
  onTestFinished(() => connection.close())
  const history = new ServerHistory('test')
  connection.onConnected = (client) => history.look(client)
  await connection.ensure()
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  onTestFinished(() => admin.end())
  const witnesses: Witnesses = {
    connection,
    history,
    clock: steadyClock,
    confirm: () => confirmOn(target, history, () => connection.host),
  }
  const ask = (sent: Sent, others: Partial<Witnesses> = {}) =>
    wasCommitted({ ...witnesses, ...others }, sent, new Error('lost'))
  return { connection, history, admin, event, ask }
}

async function crash(admin: pg.Client, connection: ServerConnection): Promise<void> {
  const { rows } = await admin.query('select pg_backend_pid() as pid')
  process.kill((rows as [{ pid: number }])[0].pid, 'SIGKILL')
  await expect.poll(() => connection.isConnected, { interval: 5 }).toBe(false)
  const isReady = () =>
    connection.ensure().then(
      () => true,
      () => false,
    )
  await expect.poll(isReady, { interval: 20 }).toBe(true)
}

it.skipIf(!isOffered)(
  'a commit is not judged by the id of its transaction after a crash of the server, which may have given it to another one',
  async () => {
    const { connection, history, admin, event, ask } = await open()
    const { rows } = await admin.query('select pg_current_xact_id()::text as xid')
    const [{ xid }] = rows as [{ xid: string }]
    const sent = { xid, incarnation: history.incarnation, event: undefined }
    expect(await ask(sent)).toBe(true)
    await crash(admin, connection)
    expect(await ask({ ...sent, event: { ...event, taskId: 'task-lost' } })).toBe(false)
    let attempts = 0
    const confirm = async () => {
      if (attempts++ === 0) throw new Error('the connection was lost')
    }
    // Without an answer it is asked again, and the event is found again.
    expect(await ask({ ...sent, event }, { confirm })).toBe(true)
    expect(attempts).toBe(2)
    await expect(ask(sent)).rejects.toBeInstanceOf(CommitFailed)
    // Of a transaction of the server as it is now the id is proof again.
    expect(await ask({ ...sent, incarnation: history.incarnation })).toBe(true)
  },
)

it.skipIf(!isOffered)('a commit that waits for a standby is unknown until a standby has confirmed it', async () => {
  const { history, admin, ask } = await open()
  await admin.query(`alter system set synchronous_standby_names = 'missing'`)
  await admin.query('select pg_reload_conf()')
  await admin.query('set synchronous_commit = local')
  await expect
    .poll(async () => (await admin.query('show synchronous_standby_names')).rows, { interval: 5 })
    .toEqual([{ synchronous_standby_names: 'missing' }])
  const { rows } = await admin.query('select pg_current_xact_id()::text as xid')
  const sent = { xid: (rows as [{ xid: string }])[0].xid, incarnation: history.incarnation, event: undefined }
  const fast: Clock = {
    ...steadyClock,
    now: () => steadyClock.now() * 20,
    setTimeout: (fn, ms) => steadyClock.setTimeout(fn, ms / 20),
  }
  await expect(ask(sent, { clock: fast })).rejects.toThrow('the server does not confirm the commit')
  await admin.query(`alter system reset synchronous_standby_names`)
  await admin.query('select pg_reload_conf()')
  expect(await ask({ ...sent, incarnation: history.incarnation })).toBe(true)
})
