// Shared by the tests of copies: a ledger with rows of every kind, and the rows of two ledgers, to be compared without the code under test.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { surface } from '../../operations/world.ts'

export const executors = {
  work: async (_task: unknown, run: { call(name: string, fn: () => unknown): Promise<unknown> }) =>
    await run.call('look', () => ({ found: 'größer 🦉' })),
  fail: () => {
    throw new Error('no such file')
  },
  /** Ends in its second generation, after a race. */
  turns: async ({ input }: { input: unknown }, run: Run) => {
    await run.race([run.sleep(1), run.ask('Go on?')])
    return input === null ? run.continueAsNew({ turn: 2 }) : input
  },
}

/** By the number of tasks: the file of a filled ledger. */
const files = new Map<number, Promise<string>>()

/**
 * Fills a new ledger: tasks in each state with journals, dependencies, a board with mail, a team with memory. Files with as many tasks are copies
 * of one.
 */
export async function fillLedger(name: string, { tasks = 20 }: { tasks?: number } = {}): Promise<void> {
  if (name.startsWith('postgres')) return await fill(name, tasks)
  if (!files.has(tasks)) files.set(tasks, filledFile(tasks))
  copyFileSync((await files.get(tasks)) as string, name)
}

/** Makes a new ledger of which another program has removed the branch that each ledger begins with. */
export async function ledgerWithoutBranch(path: string): Promise<void> {
  await (await createEngine({ ledger: path })).close()
  const database = new Database(path)
  database.pragma('foreign_keys = off')
  database.exec('delete from branch')
  database.close()
}

async function filledFile(tasks: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-filled-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'errand.db')
  await fill(file, tasks)
  return file
}

async function fill(name: string, tasks: number): Promise<void> {
  const engine = (await createEngine({ ledger: name, executors, onError: () => {} })) as unknown as Engine
  const call = surface(engine) as (ability: string, input: object) => Promise<Record<string, any>>
  try {
    const group = await engine.create({ name: 'group', key: 'group' })
    for (let at = 0; at < tasks; at += 500) {
      const drafts = Array.from({ length: Math.min(500, tasks - at) }, (_, index) => ({
        name: `task ${at + index}`,
        parentId: group.id,
        ...(index === 0 ? { executor: 'work' } : {}),
      }))
      await engine.create(drafts as never)
    }
    const done = await engine.create({ name: 'done', executor: 'work' })
    const failed = await engine.create({ name: 'failed', executor: 'fail' })
    await engine.create({ name: 'after', blockedBy: [done.id, failed.id] })
    const turns = await engine.create({ name: 'turns', executor: 'turns' })
    await Promise.all([done, failed, turns].map((task) => engine.settled(task)))
    await engine.bus.call('board:create', { subject: 'on the board' })
    await call('board:send', { to: 'bob', as: 'ada', body: 'hello' })
    const { taskId } = await call('task:create', { name: 'team' })
    await call('agent:join', { taskId, agentId: 'ada' })
    await call('mem:remember', { text: 'Caches are cold after a restart.', taskId, agentId: 'ada', confidence: 0.9 })
    await call('mem:remember', { text: 'Queues are drained in order.' })
    await call('mem:observe', {
      sessionId: 's1',
      type: 'insight',
      content: 'Restarts clear all caches of the gateway.',
    })
    await call('mem:consolidate', { level: 'session', sessionId: 's1' })
    await engine.setSharedLimits({ maxConcurrent: 4 })
  } finally {
    await engine.close()
  }
}

/** Tables that a database keeps for itself. `fact_text` is an index that each database has in another form. */
const ownTables = /^(?:sqlite_|fact_text|ledger_version)/

/** All rows of a ledger file as texts, by table. */
export function rowsOfFile(path: string): Record<string, string[]> {
  const database = new Database(path, { readonly: true })
  try {
    const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[]
    return rowsByTable(tables, (table) => database.prepare(`select * from "${table}"`).all() as object[])
  } finally {
    database.close()
  }
}

/** The same of a ledger in the first schema of a database. */
export async function rowsOfServer(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: (type: number) => (type === 20 ? Number : pg.types.getTypeParser(type)) } as never,
  })
  await client.connect()
  try {
    const { rows } = await client.query('select tablename from pg_tables where schemaname = current_schema()')
    const all = new Map<string, object[]>()
    for (const { tablename } of rows) all.set(tablename, (await client.query(`select * from "${tablename}"`)).rows)
    return rowsByTable([...all.keys()], (table) => all.get(table) as object[])
  } finally {
    await client.end()
  }
}

function rowsByTable(tables: readonly string[], rowsOf: (table: string) => object[]): Record<string, string[]> {
  const text = (row: object) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
  const sorted = tables.filter((table) => !ownTables.test(table)).sort()
  return Object.fromEntries(sorted.map((table) => [table, rowsOf(table).map(text).sort()]))
}
