// The check of a whole ledger: it finds each planted fault, and nothing in a sound ledger.
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import { checkLedger, ledgerRules } from '../../src/ledger/check/check-ledger.ts'
import { refusalOf } from '../engine/world.ts'
import { faults } from './check/faults.ts'
import { openRichLedger } from './check/rich-ledger.ts'

let folder: string
/** The rich ledger, with its live runs. */
let sound: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-check-'))
  sound = join(folder, 'sound.db')
  const worked = join(folder, 'worked.db')
  const close = await openRichLedger(worked)
  withDatabase(worked, (database) => database.exec(`vacuum into '${sound}'`))
  await close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function withDatabase(file: string, work: (database: Database.Database) => void): void {
  const database = new Database(file)
  try {
    work(database)
  } finally {
    database.close()
  }
}

let copies = 0

/** A copy of the rich ledger in which a statement was executed that the database would otherwise refuse. */
function planted(statement: string): string {
  const file = join(folder, `${copies++}.db`)
  copyFileSync(sound, file)
  withDatabase(file, (database) => {
    for (const pragma of ['foreign_keys = off', 'ignore_check_constraints = on', 'synchronous = off'])
      database.pragma(pragma)
    const triggers = database.prepare(`select name, sql from sqlite_schema where type = 'trigger'`).all()
    for (const { name } of triggers as Array<{ name: string }>) database.exec(`drop trigger ${name}`)
    expect(database.prepare(statement).run().changes).toBeGreaterThan(0)
    for (const { sql } of triggers as Array<{ sql: string }>) database.exec(sql)
  })
  return file
}

describe('The check of a ledger', () => {
  it('finds nothing in a sound ledger, with open runs and a family that is being purged', async () => {
    expect(await checkLedger(sound)).toEqual({
      ledger: sound,
      violations: [],
      counts: {},
      rules: ledgerRules.length,
      tasks: 36,
    })
  })

  it.each(faults)('finds $title', async ({ rule, plant, says }) => {
    const { violations } = await checkLedger(planted(typeof plant === 'string' ? plant : plant.sqlite))
    const found = violations.filter((each) => each.rule === rule).map(({ message }) => message)
    expect(found).toContainEqual(expect.stringMatching(says))
  })

  it('finds a damaged page, and checks the rules that do not need it', async () => {
    const file = planted(faults.find(({ rule }) => rule === 'board-numbers')?.plant as string)
    let page = 0
    let size = 0
    withDatabase(file, (database) => {
      const selectRoot = database.prepare(`select rootpage from sqlite_schema where name = 'event_of_task'`)
      page = selectRoot.pluck().get() as number
      size = database.pragma('page_size', { simple: true }) as number
      database.pragma('wal_checkpoint(truncate)')
    })
    const damaged = openSync(file, 'r+')
    writeSync(damaged, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
    closeSync(damaged)
    const { violations } = await checkLedger(file)
    const messages = violations.filter(({ rule }) => rule === 'storage-damage').map(({ message }) => message)
    expect(messages).toContainEqual(
      expect.stringMatching(/ is damaged .* Because of that, not all could be checked for last-event, event-order\.$/),
    )
    expect(violations.map(({ rule }) => rule)).toContain('board-numbers')
  })

  it('lists a limited number of violations of each rule, and counts all of many pages', async () => {
    const file = join(folder, 'many.db')
    const engine = await createEngine({ ledger: file, work: false })
    const count = 2_100
    await engine.create(Array.from({ length: count }, (_, at) => ({ name: `task ${at}` })))
    await engine.close()
    withDatabase(file, (database) => {
      database.exec('update task set open_blockers = 1, child_count = -1')
      database.exec(`insert into event (type, task_id, at, instance_id, data)
        select 'task.updated', id, 1, 'none', '{"status":"paused"}' from task`)
    })
    const { violations, counts, tasks } = await checkLedger(file, { limit: 3 })
    const rules = ['task-readiness', 'last-event', 'event-order', 'open-blockers']
    expect([tasks, counts]).toEqual([count, Object.fromEntries(rules.map((rule) => [rule, count]))])
    expect(violations.map(({ rule }) => rule)).toEqual(rules.flatMap((rule) => [rule, rule, rule]))
  })

  it('finds circles of more dependencies than one page has', async () => {
    const file = join(folder, 'circle.db')
    const engine = await createEngine({ ledger: file, work: false })
    const created = await engine.create(Array.from({ length: 1_500 }, (_, at) => ({ name: `task ${at}` })))
    await engine.close()
    withDatabase(file, (database) => {
      const insert = database.prepare(`insert into dependency (task_id, blocker_id, kind, call_id, position, created_at)
        values (?, ?, 'after', '', 0, 1)`)
      database.transaction(() => {
        for (const [at, { id }] of created.entries()) insert.run(id, created[(at + 1) % created.length]?.id)
      })()
    })
    const { violations, counts } = await checkLedger(file, { limit: 1 })
    expect(counts['dependency-cycle']).toBe(1_500)
    expect(violations).toContainEqual({
      rule: 'dependency-cycle',
      subject: created[0]?.id,
      message: 'It comes after itself through its open dependencies, in a circle with 1499 other tasks.',
    })
  })

  it('refuses a name under which there is no ledger', async () => {
    await refusalOf(checkLedger(join(folder, 'none.db')), 'NOT_FOUND')
  })

  it('has a planted fault for each of its rules', () => {
    const found = new Set(faults.map(({ rule }) => rule))
    expect(ledgerRules.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([])
  })
})
