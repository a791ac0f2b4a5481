// Copies between SQLite and a server, in both directions.
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { type CopyProgress, copyLedger } from '../../../src/ledger/copy/copy-ledger.ts'
import { ServerConnection } from '../../../src/ledger/postgres/server-connection.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import {
  executors,
  fillLedger,
  ledgerWithoutBranch,
  rowsOfFile,
  rowsOfServer,
} from '../../ledger/copy/filled-ledger.ts'
import { copyUntil } from '../../ledger/copy/killed-copy.ts'
import { adminOf } from '../../postgres/life.ts'
import { createDatabase, query, type TestServer, testServer, withSchema } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const server = (await testServer()) as TestServer

/** How many tasks the ledger of the long way has. `npm run test:postgres` copies 100,000. */
const tasks = Number(process.env['ERRAND_COPIED_TASKS'] ?? 2_500)

/** When a copy is killed: each goes further than the one before. */
type KillPoint = (progress: CopyProgress) => boolean
const inTasks: KillPoint = ({ table, rows }) => table === 'task' && rows > tasks / 3
const inEvents: KillPoint = ({ table, rows }) => table === 'event' && rows > tasks / 3
const inCheck: KillPoint = ({ doing, table }) => doing === 'verify' && table === 'event'
const killPoints = isFull ? [inTasks, inEvents, inCheck] : [inEvents]

/** Constraints, triggers and indexes of a ledger, in words. */
async function guardsOf(url: string): Promise<string[]> {
  const rows = (await query(
    { url },
    `
    select conrelid::regclass || ' ' || pg_get_constraintdef(oid) || convalidated::text as text
      from pg_constraint where connamespace = current_schema()::regnamespace
    union all select pg_get_triggerdef(t.oid) || t.tgenabled::text from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select table_name || '.' || column_name || ' ' || data_type from information_schema.columns
      where table_schema = current_schema()
    order by 1`,
  )) as Array<{ text: string }>
  return rows.map(({ text }) => text)
}

describe.skipIf(server === undefined)('a copy between a file and a server', () => {
  it(`has the same rows after both ways, each killed ${isFull ? 'three times' : 'once'}`, {
    timeout: 1_800_000,
  }, async () => {
    const from = ledgerFile()
    const url = await createDatabase(server)
    const back = ledgerFile()
    await fillLedger(from, { tasks })
    for (const [source, target] of [
      [from, url],
      [url, back],
    ] as const) {
      for (const isThere of killPoints) expect(await copyUntil(source, target, isThere)).toBe(true)
      expect(await copyLedger(source, target)).toMatchObject({ isContinued: true })
    }
    const rows = rowsOfFile(from)
    expect(await rowsOfServer(url)).toEqual(rows)
    expect(rowsOfFile(back)).toEqual(rows)
  })

  it('has no row that the original lacks', async () => {
    const [from, url] = [ledgerFile(), await createDatabase(server)]
    await ledgerWithoutBranch(from)
    await copyLedger(from, url)
    expect(await rowsOfServer(url)).toEqual(rowsOfFile(from))
  })

  it('leaves the tables of other programs as they are, also in a schema with an odd name', async () => {
    const from = ledgerFile()
    const url = withSchema(await createDatabase(server), 'My-Work')
    await fillLedger(from)
    const client = new pg.Client({ connectionString: url.replace(/\?.*/, '') })
    await client.connect()
    await client.query(`create schema "My-Work"; set search_path to "My-Work"; create table customer (id integer primary key);
      create table invoice (id integer, customer integer references customer (id))`)
    await copyUntil(from, url, ({ table }) => table === 'event')
    await copyLedger(from, url)
    const { rows } = await client.query(`select conname from pg_constraint where conrelid = 'invoice'::regclass`)
    await client.end()
    expect(rows).toEqual([{ conname: 'invoice_customer_fkey' }])
    const back = ledgerFile()
    await copyLedger(url, back)
    expect(rowsOfFile(back)).toEqual(rowsOfFile(from))
  })

  it('has all constraints, and goes on with the numbers of the original', async () => {
    const from = ledgerFile()
    const [url, fresh] = [await createDatabase(server), await createDatabase(server)]
    await fillLedger(from)
    await copyLedger(from, url)
    await (await openEngine({ ledger: fresh })).close()
    expect(await guardsOf(url)).toEqual(await guardsOf(fresh))
    const engine = await openEngine({ ledger: url, executors })
    const task = await engine.create({ name: 'new', executor: 'work' })
    const last = (rowsOfFile(from)['task'] ?? []).length
    // A group that begins again leaves a gap.
    expect([last + 1, last + 2]).toContain(task.seq)
    expect(await engine.settled(task)).toMatchObject({ status: 'completed' })
  })

  it('cannot be opened by an engine before it is complete, and replaces nothing', async () => {
    const from = ledgerFile()
    const url = await createDatabase(server)
    await fillLedger(from)
    await copyUntil(from, url, ({ table }) => table === 'event')
    await expect(openEngine({ ledger: url })).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    const refusals: Promise<unknown>[] = []
    const onProgress = () => void refusals.push(copyLedger(from, url).catch((error: unknown) => error))
    await copyLedger(from, url, { onProgress })
    // The last of them ends after the copy, and is refused as one more copy or for the complete ledger.
    const [first] = await Promise.all(refusals)
    expect(first).toMatchObject({ code: 'LEDGER_BUSY' })
    await expect(copyLedger(from, url)).rejects.toMatchObject({ code: 'LEDGER_EXISTS' })
  })

  it('is not made of a row that refers to a missing one', async () => {
    const url = await createDatabase(server)
    await fillLedger(url, { tasks: 3 })
    await query(
      { url },
      `alter table message disable trigger all; alter table event disable trigger all;
      update event set task_id = 'task-gone' where seq = 1`,
    )
    for (const target of [await createDatabase(server), ledgerFile()]) {
      await expect(copyLedger(url, target)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    }
  })

  it('names the engines that work on its original by the clock of the server, whatever that of this host says', async () => {
    const url = await createDatabase(server)
    const engine = await openEngine({ ledger: url })
    onTestFinished(() => engine.close())
    vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + 3_600_000)
    expect(await copyLedger(url, ledgerFile())).toMatchObject({ engines: 1 })
  })

  it('leaves no connection behind when it cannot be compared with its original', async () => {
    const from = ledgerFile()
    await fillLedger(from, { tasks: 3 })
    const url = await createDatabase(server)
    const send = ServerConnection.prototype.query
    vi.spyOn(ServerConnection.prototype, 'query').mockImplementation(function (
      this: ServerConnection,
      sql,
      parameters,
    ) {
      return send.call(this, sql.startsWith('begin isolation level') ? 'a planted fault' : sql, parameters)
    })
    await expect(copyLedger(from, url)).rejects.toThrow('syntax error')
    const client = await adminOf(url)
    const sessions = `select application_name from pg_stat_activity where datname = current_database() and application_name like 'errand %'`
    await expect.poll(async () => (await client.query(sessions)).rows).toEqual([])
  })
})
