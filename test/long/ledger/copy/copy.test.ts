// Copies of ledger files: whole, of one moment, continued after a kill, and never in the place of something else.
import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CopyProgress, copyLedger } from '../../../../src/ledger/copy/copy-ledger.ts'
import { rowDifferences } from '../../../../src/ledger/copy/row-differences.ts'
import type { StoredRow, TableShape } from '../../../../src/ledger/snapshot.ts'
import { createPlace } from '../../../crash/child.ts'
import { violations } from '../../../crash/invariants.ts'
import { deferred, ledgerFile, openEngine } from '../../../engine/world.ts'
import { executors, fillLedger, ledgerWithoutBranch, rowsOfFile } from '../../../ledger/copy/filled-ledger.ts'
import { copyUntil } from '../../../ledger/copy/killed-copy.ts'
import { surface } from '../../../operations/world.ts'

const filesBeside = (path: string) => readdirSync(dirname(path)).sort()

describe('a copy of a ledger file', () => {
  it('has the same rows', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const copied = await copyLedger(from, to)
    expect(filesBeside(to)).toEqual(['errand.db'])
    const rows = rowsOfFile(from)
    expect(rowsOfFile(to)).toEqual(rows)
    expect(copied.rows).toBe(Object.values(rows).flat().length)
    expect(copied).toMatchObject({ from, to, isContinued: false, engines: 0, written: copied.rows })
  })

  it('has no row that the original lacks', async () => {
    const [from, to] = [ledgerFile(), ledgerFile()]
    await ledgerWithoutBranch(from)
    await copyLedger(from, to)
    expect(rowsOfFile(to)).toEqual(rowsOfFile(from))
  })

  it('goes on with the numbers of the original, and finds its facts', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const original = new Database(from)
    original.exec(`update sqlite_sequence set seq = 5000 where name = 'task'`)
    original.close()
    await copyLedger(from, to)
    const engine = await openEngine({ ledger: to, executors })
    const { seq } = await engine.create({ name: 'new' })
    expect(seq).toBe(5001)
    const { chunks } = (await surface(engine as never)('mem:retrieve', { query: 'a drained queue' })) as {
      chunks: Array<{ text: string }>
    }
    expect(chunks.map(({ text }) => text)).toEqual(['Queues are drained in order.'])
  })

  it('is of one moment while an engine works', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    const engine = await openEngine({ ledger: from, executors, maxConcurrent: 20 })
    const batch = () =>
      engine.create(Array.from({ length: 200 }, (_, at) => ({ name: `t${at}`, executor: 'work' })) as never)
    let tasks = (await batch()) as unknown as Array<{ id: string }>
    let more: Promise<unknown> = Promise.resolve()
    const copied = await copyLedger(from, to, {
      onProgress: ({ table, doing }) => {
        if (table === 'run' && doing === 'copy') more = batch()
      },
    })
    tasks = [...tasks, ...((await more) as typeof tasks)]
    await Promise.all(tasks.map((task) => engine.settled(task)))
    expect(copied.tables['task']).toBe(200)
    expect(await violations({ ...createPlace(), ledger: to }, { resting: false })).toEqual([])
  })

  it('is completed by the next one after each of three kills, with what changed in the original meanwhile', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from, { tasks: 3_000 })
    expect(await copyUntil(from, to, ({ table, rows }) => table === 'task' && rows >= 1_000)).toBe(true)
    expect(await copyUntil(from, to, ({ table, rows }) => table === 'event' && rows >= 1_000)).toBe(true)
    const engine = await openEngine({ ledger: from, executors })
    await engine.cancel(await engine.create({ name: 'group', key: 'group' }))
    await engine.purge({ before: Date.now() + 1 })
    await engine.close()
    expect(await copyUntil(from, to, ({ doing }) => doing === 'verify')).toBe(true)
    expect(existsSync(to)).toBe(false)
    const copied = await copyLedger(from, to)
    expect(copied.isContinued).toBe(true)
    expect(filesBeside(to)).toEqual(['errand.db'])
    expect(rowsOfFile(to)).toEqual(rowsOfFile(from))
    await (await openEngine({ ledger: to, executors })).close()
  })

  it('is refused when something else changes its rows before they are compared', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const onProgress = ({ table, doing }: CopyProgress) => {
      if (table !== 'purging' || doing !== 'copy') return
      const database = new Database(`${to}.copying`)
      database.exec(`update task set name = 'other' where name = 'done'`)
      database.close()
    }
    const copy = copyLedger(from, to, { onProgress })
    await expect(copy).rejects.toMatchObject({ code: 'LEDGER_CORRUPT', details: { table: 'task' } })
    expect(existsSync(to)).toBe(false)
  })

  it('must be begun again if two rows of an unfinished one have exchanged a unique value', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    await copyUntil(from, to, ({ table }) => table === 'event')
    const database = new Database(`${to}.copying`)
    database.exec(`update task set key = null where name = 'group'; update task set key = 'group' where name = 'done'`)
    database.close()
    await expect(copyLedger(from, to)).rejects.toMatchObject({
      code: 'LEDGER_WRITE_FAILED',
      message: expect.stringContaining('Delete it, then copy again.'),
    })
  })

  it('cannot be opened by an engine before it is complete', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    await copyUntil(from, to, ({ table }) => table === 'event')
    await expect(openEngine({ ledger: `${to}.copying` })).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  })

  it('replaces nothing, and waits for no other copy', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const refusal = deferred<unknown>()
    const copied = copyLedger(from, to, {
      onProgress: () => void copyLedger(from, to).catch(refusal.resolve),
    })
    expect(await refusal.promise).toMatchObject({ code: 'LEDGER_BUSY' })
    await copied
    await expect(copyLedger(from, to)).rejects.toMatchObject({ code: 'LEDGER_EXISTS' })
    const foreign = ledgerFile()
    writeFileSync(`${foreign}.copying`, 'a file of another program that is longer than a header of SQLite'.repeat(9))
    await expect(copyLedger(from, foreign)).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
  })

  it('is made once when several copies to the same name begin at the same moment', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const copies = await Promise.allSettled([1, 2, 3].map(() => copyLedger(from, to)))
    const refused = copies.flatMap((copy) => (copy.status === 'rejected' ? [copy.reason] : []))
    expect(refused).toEqual([1, 2].map(() => expect.objectContaining({ code: 'LEDGER_BUSY' })))
    expect(rowsOfFile(to)).toEqual(rowsOfFile(from))
  })

  it('does not take the name of a file that was created meanwhile', async () => {
    const from = ledgerFile()
    const to = ledgerFile()
    await fillLedger(from)
    const onProgress = ({ table, doing }: CopyProgress) => {
      if (table === 'task' && doing === 'copy') writeFileSync(to, '')
    }
    const copy = copyLedger(from, to, { onProgress })
    await expect(copy).rejects.toMatchObject({ code: 'LEDGER_EXISTS' })
  })
})

describe('restoring a copy', () => {
  it('replaces the ledger, which is kept under another name', async () => {
    const backup = ledgerFile()
    const ledger = ledgerFile()
    await fillLedger(backup)
    await fillLedger(ledger, { tasks: 3 })
    const before = rowsOfFile(ledger)
    const { replaced } = await copyLedger(backup, ledger, { replace: true })
    expect(rowsOfFile(ledger)).toEqual(rowsOfFile(backup))
    expect(rowsOfFile(replaced as string)).toEqual(before)
  })

  it('is refused while an engine has the ledger open', async () => {
    const backup = ledgerFile()
    const ledger = ledgerFile()
    await fillLedger(backup)
    const engine = await openEngine({ ledger })
    await engine.create({ name: 'mine' })
    await expect(copyLedger(backup, ledger, { replace: true })).rejects.toMatchObject({ code: 'LEDGER_BUSY' })
    expect((await engine.list()).total).toBe(1)
  })

  it('does not take the log of a ledger that is gone', async () => {
    const backup = ledgerFile()
    const ledger = ledgerFile()
    await fillLedger(backup)
    await fillLedger(ledger, { tasks: 500 })
    // What a killed engine leaves beside a file that a person then moves away.
    const open = new Database(ledger)
    open.exec(`update task set name = 'other' where parent_id is not null`)
    copyFileSync(`${ledger}-wal`, `${backup}-kept`)
    open.close()
    renameSync(ledger, `${ledger}-moved`)
    renameSync(`${backup}-kept`, `${ledger}-wal`)
    await copyLedger(backup, ledger, { replace: true })
    expect(rowsOfFile(ledger)).toEqual(rowsOfFile(backup))
  })

  it('is refused for a folder, and for a database of another program', async () => {
    const backup = ledgerFile()
    const other = ledgerFile()
    await fillLedger(backup)
    new Database(other).exec('create table theirs (id integer)').close()
    for (const target of [dirname(other), other]) {
      await expect(copyLedger(backup, target, { replace: true })).rejects.toMatchObject({ code: 'LEDGER_FOREIGN' })
    }
    expect(filesBeside(other)).toEqual(['errand.db'])
  })

  it('does not touch a ledger that has the name of the unfinished copy too', async () => {
    const backup = ledgerFile()
    const ledger = ledgerFile()
    await fillLedger(backup)
    await fillLedger(ledger, { tasks: 3 })
    const before = rowsOfFile(ledger)
    linkSync(ledger, `${ledger}.copying`)
    const { replaced } = await copyLedger(backup, ledger, { replace: true })
    expect(rowsOfFile(replaced as string)).toEqual(before)
    await expect(copyLedger(backup, `${ledger}.copying`)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('replaces a file that is damaged', async () => {
    const backup = ledgerFile()
    const ledger = ledgerFile()
    await fillLedger(backup)
    writeFileSync(ledger, 'no database at all, which is longer than a header of SQLite'.repeat(9))
    await copyLedger(backup, ledger, { replace: true })
    expect(rowsOfFile(ledger)).toEqual(rowsOfFile(backup))
  })
})

const shape: TableShape = {
  name: 'example',
  columns: ['name', 'number', 'value'],
  key: ['name', 'number'],
  textKey: new Set(['name']),
  isNumbered: false,
}

/** As a database returns them. */
function sorted(rows: readonly StoredRow[]): StoredRow[] {
  const bytes = (row: StoredRow) => Buffer.from(String(row['name']))
  return [...rows].sort(
    (one, other) => Buffer.compare(bytes(one), bytes(other)) || Number(one['number']) - Number(other['number']),
  )
}

describe('the differences of two tables', () => {
  it('make the one equal to the other', async () => {
    // Also characters whose order in UTF-16 is not that of their bytes.
    const name = fc.constantFrom('', 'a', 'ab', 'ä', '\uffee', '🦉', '🦉b')
    const row = fc.record({ name, number: fc.integer({ min: 0, max: 3 }), value: fc.constantFrom('x', 'y', null) })
    const key = (each: StoredRow) => JSON.stringify([each['name'], each['number']])
    const table = fc.uniqueArray(row, { selector: key, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(table, table, async (wanted, stored) => {
        const result = new Map(stored.map((each) => [key(each), each as StoredRow]))
        for await (const { put, remove } of rowDifferences(shape, [sorted(wanted)], [sorted(stored)])) {
          for (const each of remove) expect(result.delete(key(each))).toBe(true)
          for (const each of put) result.set(key(each), each)
        }
        expect(sorted([...result.values()])).toEqual(sorted(wanted))
      }),
      { numRuns: 1_000 },
    )
  })
})
