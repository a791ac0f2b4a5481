// How a ledger on a PostgreSQL server is created, migrated and refused.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { type Clock, steadyClock } from '../../../src/core/clock.ts'
import { ledgerVersion } from '../../../src/ledger/migrations/migrations.ts'
import { openLedger } from '../../../src/testing/index.ts'
import { taskRow } from '../../ledger/factories.ts'
import { createDatabase, type TestServer, testServer, withClient, withSchema } from '../../postgres/server.ts'
import { programOf } from '../../programs.ts'

const server = (await testServer()) as TestServer
const opener = programOf(import.meta.dirname, '../../postgres/opening-process.ts')

/** A new role that may log in, and the URL of a database for it. */
async function createRole(url: string): Promise<{ role: string; asRole: string }> {
  const role = `worker_${process.pid}_${Math.random().toString(36).slice(2)}`
  await withClient(url, (client) => client.query(`create role ${role} login`))
  const asRole = new URL(url)
  asRole.username = role
  return { role, asRole: asRole.href }
}

const grantTables = (role: string) => `grant select, insert, update, delete on all tables in schema public to ${role}`
const grantSequences = (role: string) => `grant usage on all sequences in schema public to ${role}`

describe.skipIf(server === undefined)('a ledger on a PostgreSQL server', () => {
  it('X-013 is created once by ten processes that open it at once, and each writes to it', async () => {
    const url = await createDatabase(server)
    const names = Array.from({ length: 10 }, (_, n) => `task-${n}`)
    await Promise.all(names.map((name) => promisify(execFile)(process.execPath, [opener, url, name])))
    const ledger = await openLedger(url)
    const tasks = await ledger.read((tx) => tx.task.list({}, 20))
    expect(tasks.map(({ id }) => id).sort()).toEqual(names)
    await ledger.close()
    const { rows } = await withClient(url, (client) => client.query('select version::int from ledger_version'))
    expect(rows).toEqual([{ version: ledgerVersion }])
  })

  it('is created once by engines whose transactions are serializable by default', async () => {
    const url = await createDatabase(server)
    await withClient(url, (client) =>
      client.query(
        `do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$`,
      ),
    )
    const ledgers = await Promise.all([1, 2, 3, 4].map(() => openLedger(url)))
    await Promise.all(ledgers.map((ledger) => ledger.close()))
  })

  it('lies in the schema that its URL names, which is created, beside other ledgers of the database', async () => {
    const url = await createDatabase(server)
    const ledgers = await Promise.all(['one', 'an "odd\\ one'].map((schema) => openLedger(withSchema(url, schema))))
    for (const [n, ledger] of ledgers.entries()) {
      await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: `task-${n}` })) })
    }
    for (const [n, ledger] of ledgers.entries()) {
      expect((await ledger.read((tx) => tx.task.list({}, 9))).map(({ id }) => id)).toEqual([`task-${n}`])
      await ledger.close()
    }
    expect(ledgers[0]?.name).toMatch(/[?&]schema=one$/)
  })

  it('is refused for a role that may not create it, with what would help, and opened for it once it exists', async () => {
    const url = await createDatabase(server)
    const { role, asRole } = await createRole(url)
    await expect(openLedger(asRole)).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringContaining('open it once as the owner of the schema'),
    })
    await (await openLedger(url)).close()
    await withClient(url, async (client) => {
      await client.query(grantTables(role))
      await client.query(grantSequences(role))
    })
    const ledger = await openLedger(asRole)
    await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: 'a' })) })
    await ledger.close()
  })

  it('is refused for a role that lacks a right in one of its tables, with the statements that grant it', async () => {
    const url = await createDatabase(server)
    const { role, asRole } = await createRole(url)
    await (await openLedger(url)).close()
    await withClient(url, async (client) => {
      await client.query('create table of_another_program (id integer)')
      await client.query(grantTables(role))
      await client.query(`revoke all on of_another_program from ${role}`)
    })
    await expect(openLedger(asRole)).rejects.toThrow(
      /lacks rights \(usage\) on .*event_seq_seq.*grant usage, select on all sequences in schema "public" to "worker_/,
    )
    await withClient(url, async (client) => {
      await client.query(grantSequences(role))
      await client.query(`revoke delete on purging from ${role}`)
    })
    await expect(openLedger(asRole)).rejects.toThrow(/lacks rights \(delete\) on purging/)
    await withClient(url, (client) => client.query(`grant delete on purging to ${role}`))
    await (await openLedger(asRole)).close()
  })

  it('leaves no timer behind when it is refused after its watch has begun', async () => {
    const url = await createDatabase(server)
    const { role, asRole } = await createRole(url)
    await (await openLedger(url)).close()
    await withClient(url, async (client) => {
      await client.query(grantTables(role))
      await client.query(grantSequences(role))
      await client.query('revoke execute on function hashtext(text) from public')
    })
    const timers = new Set<unknown>()
    const clock: Clock = {
      ...steadyClock,
      setTimeout(fn, ms) {
        const timer = steadyClock.setTimeout(() => {
          timers.delete(timer)
          fn()
        }, ms)
        timers.add(timer)
        return timer
      },
      clearTimeout(timer) {
        timers.delete(timer)
        steadyClock.clearTimeout(timer)
      },
    }
    await expect(openLedger(asRole, clock)).rejects.toThrow(/permission denied for function hashtext/)
    expect([...timers]).toEqual([])
  })

  it('is refused where the server may lose what it has acknowledged, or the rules of the tables are off', async () => {
    const url = await createDatabase(server)
    const strict = new URL(url)
    strict.searchParams.delete('durability')
    await expect(openLedger(strict.href)).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      message: expect.stringMatching(/fsync and full_page_writes are off.*\?durability=relaxed/),
    })
    await withClient(url, (client) =>
      client.query(
        `do $$ begin execute format('alter database %I set session_replication_role = replica', current_database()); end $$`,
      ),
    )
    await expect(openLedger(url)).rejects.toThrow(/session_replication_role is "replica" for this role/)
  })

  it('is refused if its clock and that of the host are more than a day apart', async () => {
    const url = await createDatabase(server)
    const now = Date.now()
    const host = vi.spyOn(Date, 'now').mockReturnValue(now + 25 * 60 * 60_000)
    await expect(openLedger(url)).rejects.toThrow(/its clock says .*Z, and that of this host .*Z/)
    host.mockReturnValue(now + 60 * 60_000)
    await (await openLedger(url)).close()
  })

  it('is refused in a database of another encoding, and on a server that does not know the database', async () => {
    const url = await createDatabase(server)
    const latin = `latin_${process.pid}_${Math.random().toString(36).slice(2)}`
    await withClient(url, (client) =>
      client.query(`create database ${latin} encoding 'LATIN1' locale 'C' template template0`),
    )
    const other = new URL(url)
    other.pathname = `/${latin}`
    await expect(openLedger(other.href)).rejects.toThrow(/encoding of the database is LATIN1/)
    other.pathname = '/no_such_database'
    await expect(openLedger(other.href)).rejects.toThrow(/Create the database/)
  })
})
