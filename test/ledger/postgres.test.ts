// The ledger on PostgreSQL (PGlite, in this process): the contract, and failures that only a server has. All tests share one server. Each test
// of the contract empties the same schema, because creating one takes longer than most tests; the others have a schema of their own.
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it } from 'vitest'
import { ledgerVersion, oldestUsable } from '../../src/ledger/migrations/migrations.ts'
import { openPostgresLedger, type PostgresClient } from '../../src/ledger/postgres/postgres-ledger.ts'
import type { Step } from '../../src/testing/index.ts'
import { emptied, keptOpen } from '../postgres/shared-ledger.ts'
import { ledgerContract } from './contract/ledger-contract.ts'
import { eventRow, taskRow } from './factories.ts'
import { createPglite, preparingClient } from './pglite.ts'

let server: Promise<PGlite> | undefined
let client: PostgresClient | undefined
let schemas = 0

async function openSchema(): Promise<{ client: PostgresClient; drop: () => Promise<void> }> {
  server ??= createPglite()
  const client = await server
  schemas += 1
  const schema = `ledger_${schemas}`
  await client.query(`create schema ${schema}`)
  await client.query(`set search_path to ${schema}`)
  return {
    client,
    drop: async () => {
      await client.query(`drop schema ${schema} cascade`)
    },
  }
}

const contractSchema = 'ledger_of_contract'

/** The schema of the contract, created if necessary, with empty tables, the first branch only, and all sequences at 1. */
async function openEmptied(): Promise<PostgresClient> {
  server ??= createPglite()
  const pglite = await server
  client ??= preparingClient(pglite)
  const { rows } = await client.query('select 1 from information_schema.schemata where schema_name = $1', [
    contractSchema,
  ])
  if (rows.length === 0) await client.query(`create schema ${contractSchema}`)
  await client.query(`set search_path to ${contractSchema}`)
  if (rows.length > 0) await client.query(emptied)
  return client
}

const add = (id: string): Step => ({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id })) })

const ledgers = keptOpen(async () => {
  const client = await openEmptied()
  return () => openPostgresLedger(client)
})

afterAll(async () => {
  await (await server)?.close()
})

describe('X-017 PostgreSQL in PGlite fulfills the ledger contract', () => {
  // The tests after it use another schema.
  afterAll(ledgers.end)
  ledgerContract('PostgreSQL in PGlite', ledgers.open, { describe, it, expect })
})

describe('a ledger on PostgreSQL', () => {
  it('X-013 a PostgreSQL schema is migrated once, and opened unchanged later', async () => {
    const { client, drop } = await openSchema()
    const first = await openPostgresLedger(client)
    await first.step(add('a'))
    await first.close()
    const second = await openPostgresLedger(client)
    expect((await second.read((tx) => tx.task.get('a')))?.id).toBe('a')
    await second.close()
    expect((await client.query('select version from ledger_version')).rows).toEqual([{ version: ledgerVersion }])
    await drop()
  })

  it('the texts that are searched by their beginning are in the order of their bytes, in any locale of the database', async () => {
    const { client, drop } = await openSchema()
    await (await openPostgresLedger(client)).close()
    const { rows } = await client.query(
      `select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = current_schema() and collation_name = 'C' order by 1`,
    )
    expect(rows).toEqual([{ name: 'fact.id' }, { name: 'schedule.name' }, { name: 'task.id' }, { name: 'task.key' }])
    await drop()
  })

  it('a ledger is usable by engines from the last migration on that is not additive', () => {
    const additive = { isAdditive: true }
    expect(oldestUsable([{}, additive, {}])).toBe(3)
    expect(oldestUsable([{}, {}, additive, additive])).toBe(2)
  })

  it('openPostgresLedger refuses a schema with tables of another program and does not change it', async () => {
    const { client, drop } = await openSchema()
    await client.query('create table task (mine integer)')
    await expect(openPostgresLedger(client)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
    const { rows } = await client.query(
      'select table_name from information_schema.tables where table_schema = current_schema()',
    )
    expect(rows).toEqual([{ table_name: 'task' }])
    await drop()
  })

  it('openPostgresLedger rolls back the whole migration when one statement fails', async () => {
    const { client, drop } = await openSchema()
    const failing: PostgresClient = {
      query: (sql, parameters) =>
        sql.includes('message_is_immutable')
          ? Promise.reject(new Error('the connection is lost'))
          : client.query(sql, parameters),
    }
    await expect(openPostgresLedger(failing)).rejects.toThrow('the connection is lost')
    const { rows } = await client.query(
      'select table_name from information_schema.tables where table_schema = current_schema()',
    )
    expect(rows).toEqual([])
    await (await openPostgresLedger(client)).close()
    await drop()
  })

  it('a ledger on PostgreSQL rejects with OUTCOME_UNKNOWN when a commit fails, notifies its observers to read, and continues', async () => {
    const { client, drop } = await openSchema()
    let broken = false
    const ledger = await openPostgresLedger({
      async query(sql, parameters) {
        const reply = await client.query(sql, parameters)
        if (broken && sql === 'commit') throw new Error('the connection is lost')
        return reply
      },
    })
    let changed = 0
    ledger.observe({ committed() {}, changed: () => (changed += 1), failed() {} }, { watchOthers: false })
    broken = true
    await expect(ledger.step(add('a'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    broken = false
    expect(changed).toBe(1)
    expect((await ledger.read((tx) => tx.task.get('a')))?.id).toBe('a')
    await ledger.step(add('b'))
    await ledger.close()
    await drop()
  })

  it('a ledger on PostgreSQL publishes nothing of a group whose connection is lost, and observers receive later commits', async () => {
    const { client, drop } = await openSchema()
    let left = Number.POSITIVE_INFINITY
    let losesRollbacks = false
    const ledger = await openPostgresLedger({
      query(sql, parameters) {
        const lost = new Error('the connection is lost')
        if (losesRollbacks && sql === 'rollback') return Promise.reject(lost)
        if (sql.startsWith('insert into "event"') && --left < 0) return Promise.reject(lost)
        return client.query(sql, parameters)
      },
    })
    const received: string[] = []
    const committed = (events: readonly { taskId: string }[]) => received.push(...events.map(({ taskId }) => taskId))
    ledger.observe({ committed, changed() {}, failed() {} }, { watchOthers: false })
    const addWithEvent = (id: string): Step => ({
      name: 'add',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id }))
        yield* tx.event.append(eventRow({ taskId: id }))
      },
    })
    for (const each of [false, true]) {
      left = 2
      losesRollbacks = each
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => ledger.step(addWithEvent(id))))
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'LEDGER_WRITE_FAILED' } })
      left = Number.POSITIVE_INFINITY
      losesRollbacks = false
      expect(received).toEqual([])
      expect(await ledger.read((tx) => tx.task.count({}))).toBe(0)
    }
    await ledger.step(addWithEvent('d'))
    expect(received).toEqual(['d'])
    expect((await ledger.read((tx) => tx.task.list({}, 9))).map(({ id }) => id)).toEqual(['d'])
    await ledger.close()
    await drop()
  })

  it('a read on PostgreSQL runs all its statements in one repeatable-read transaction, which is rolled back at its end', async () => {
    const { client, drop } = await openSchema()
    const sent: string[] = []
    let broken = false
    const ledger = await openPostgresLedger({
      query(sql, parameters) {
        sent.push(sql)
        if (broken && sql.startsWith('select')) return Promise.reject(new Error('the connection is lost'))
        return client.query(sql, parameters)
      },
    })
    const query = () =>
      ledger.read(function* (tx) {
        return [yield* tx.task.count({}), yield* tx.event.last()]
      })
    sent.length = 0
    expect(await query()).toEqual([0, 0])
    expect([sent[0], sent.at(-1), sent.length]).toEqual([
      'begin isolation level repeatable read read only',
      'rollback',
      4,
    ])
    broken = true
    sent.length = 0
    await expect(query()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    expect([sent.at(-1), sent.length]).toEqual(['rollback', 3])
    broken = false
    expect(await query()).toEqual([0, 0])
    await ledger.close()
    await drop()
  })

  it('a ledger on PostgreSQL retries a group after a deadlock with another session', async () => {
    const { client, drop } = await openSchema()
    let deadlocks = 2
    const ledger = await openPostgresLedger({
      query(sql, parameters) {
        if (sql.startsWith('insert into "task"') && deadlocks > 0) {
          deadlocks -= 1
          return Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }))
        }
        return client.query(sql, parameters)
      },
    })
    await ledger.step(add('a'))
    expect(deadlocks).toBe(0)
    expect(await ledger.read((tx) => tx.task.count({}))).toBe(1)
    await ledger.close()
    await drop()
  })

  it('a ledger on PostgreSQL refuses a value that it cannot store, and commits the other steps of the group', async () => {
    const { client, drop } = await openSchema()
    const ledger = await openPostgresLedger(client)
    const outcomes = await Promise.allSettled([
      ledger.step(add('a')),
      ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: 'nul', name: 'a\u0000b' })) }),
      ledger.step(add('b')),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { code: 'LEDGER_WRITE_FAILED', details: { sqlState: '22021' } } })
    await ledger.close()
    await drop()
  })
})
