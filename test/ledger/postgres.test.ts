// The ledger on PostgreSQL, which is PGlite in process: the contract, and what only a server can do to it. One server for all
// tests. Each test of the contract opens the same schema, emptied, because to make one takes longer than most of them; the
// others have a schema of their own.
import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it } from 'vitest'
import { ledgerVersion } from '../../src/ledger/migrations/migrations.ts'
import {
  eventRow,
  ledgerContract,
  openPostgresLedger,
  type PostgresClient,
  type Step,
  taskRow,
} from '../../src/testing/index.ts'

let server: Promise<PGlite> | undefined
let schemas = 0

async function openSchema(): Promise<{ client: PostgresClient; drop: () => Promise<void> }> {
  server ??= PGlite.create()
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

const inContract = 'ledger_of_contract'

/** The schema of the contract, made at first; nothing is in it but tables and the first branch, and all numbers begin at 1. */
async function openEmptied(): Promise<PostgresClient> {
  server ??= PGlite.create()
  const client = await server
  await client.query(`create schema if not exists ${inContract}`)
  await client.query(`set search_path to ${inContract}`)
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = $1 and table_name not in ('ledger_version', 'branch')`,
    [inContract],
  )
  const tables = rows.map(({ name }) => name).join()
  if (tables === '') return client
  await client.query(`truncate ${tables} restart identity cascade`)
  await client.query(`delete from branch where name <> 'main'`)
  await client.query(`select setval('branch_seq_seq', 1)`)
  return client
}

const add = (id: string): Step => ({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id })) })

afterAll(async () => {
  await (await server)?.close()
})

ledgerContract(
  'PostgreSQL in PGlite: X-017',
  async () => {
    const ledger = await openPostgresLedger(await openEmptied())
    return { ledger, close: () => ledger.close() }
  },
  { describe, it, expect },
)

describe('a ledger on PostgreSQL', () => {
  it('X-013 a PostgreSQL schema is migrated once and opened as it is later', async () => {
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

  it('of a newer version is refused', async () => {
    const { client, drop } = await openSchema()
    await (await openPostgresLedger(client)).close()
    await client.query('update ledger_version set version = version + 1')
    await expect(openPostgresLedger(client)).rejects.toMatchObject({ code: 'LEDGER_NEWER' })
    await drop()
  })

  it('is not made in a schema whose tables are of another program', async () => {
    const { client, drop } = await openSchema()
    await client.query('create table task (mine integer)')
    await expect(openPostgresLedger(client)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
    const { rows } = await client.query(
      'select table_name from information_schema.tables where table_schema = current_schema()',
    )
    expect(rows).toEqual([{ table_name: 'task' }])
    await drop()
  })

  it('takes a migration back whole when a statement of it fails', async () => {
    const { client, drop } = await openSchema()
    const failing: PostgresClient = {
      query: (sql, parameters) =>
        sql.includes('message_is_immutable')
          ? Promise.reject(new Error('the connection is gone'))
          : client.query(sql, parameters),
    }
    await expect(openPostgresLedger(failing)).rejects.toThrow('the connection is gone')
    const { rows } = await client.query(
      'select table_name from information_schema.tables where table_schema = current_schema()',
    )
    expect(rows).toEqual([])
    await (await openPostgresLedger(client)).close()
    await drop()
  })

  it('rejects with OUTCOME_UNKNOWN when the commit fails, notifies its observers to read, and goes on', async () => {
    const { client, drop } = await openSchema()
    let broken = false
    const ledger = await openPostgresLedger({
      async query(sql, parameters) {
        const reply = await client.query(sql, parameters)
        if (broken && sql === 'commit') throw new Error('the connection is gone')
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

  it('publishes nothing of a group whose connection is lost, and observers receive what is committed later', async () => {
    const { client, drop } = await openSchema()
    let left = Number.POSITIVE_INFINITY
    let losesRollbacks = false
    const ledger = await openPostgresLedger({
      query(sql, parameters) {
        const lost = new Error('the connection is gone')
        if (losesRollbacks && sql === 'rollback') return Promise.reject(lost)
        if (sql.startsWith('insert into "event"') && --left < 0) return Promise.reject(lost)
        return client.query(sql, parameters)
      },
    })
    const heard: string[] = []
    const committed = (events: readonly { taskId: string }[]) => heard.push(...events.map(({ taskId }) => taskId))
    ledger.observe({ committed, changed() {}, failed() {} }, { watchOthers: false })
    const told = (id: string): Step => ({
      name: 'add',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id }))
        yield* tx.event.append(eventRow({ taskId: id }))
      },
    })
    for (const each of [false, true]) {
      left = 2
      losesRollbacks = each
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => ledger.step(told(id))))
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'LEDGER_WRITE_FAILED' } })
      left = Number.POSITIVE_INFINITY
      losesRollbacks = false
      expect(heard).toEqual([])
      expect(await ledger.read((tx) => tx.task.count({}))).toBe(0)
    }
    await ledger.step(told('d'))
    expect(heard).toEqual(['d'])
    expect((await ledger.read((tx) => tx.task.list({}, 9))).map(({ id }) => id)).toEqual(['d'])
    await ledger.close()
    await drop()
  })

  it('reads one snapshot: all statements of a query lie in one transaction of that kind, which a failure ends', async () => {
    const { client, drop } = await openSchema()
    const sent: string[] = []
    let broken = false
    const ledger = await openPostgresLedger({
      query(sql, parameters) {
        sent.push(sql)
        if (broken && sql.startsWith('select')) return Promise.reject(new Error('the connection is gone'))
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

  it('tries a group again that gave way to another session', async () => {
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

  it('refuses what PostgreSQL cannot store, and the steps beside it stand', async () => {
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
