// Upgrades a ledger of each earlier version, with a row of every kind: nothing is lost, the new columns have the values that they would
// always have had, and an engine works on it.
import { readFileSync, writeFileSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { checkLedger } from '../../../src/ledger/check/check-ledger.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { applicationId, ledgerVersion, migrationTexts } from '../../../src/ledger/migrations/migrations.ts'
import { postgresDialect } from '../../../src/ledger/postgres/dialect.ts'
import { connect } from '../../../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { isClaimable } from '../../../src/machines/readiness.ts'
import { callRow, factRow, openLedger, openPostgresLedger } from '../../../src/testing/index.ts'
import { ledgerFile } from '../../engine/world.ts'
import { firstVersionRows, upgradedNumbers } from '../../ledger/first-version.ts'
import { createPglite } from '../../ledger/pglite.ts'

type Rows = Array<Record<string, unknown>>

const earlierVersions = Array.from({ length: ledgerVersion - 1 }, (_, index) => index + 1)

const tables = ['task', 'dependency', 'run', 'call', 'message', 'event', 'instance']
const newTables = (
  'setting board board_task mail board_mirror board_file ' +
  'branch observation fact fact_word fact_text fact_vector consolidation decision team objective stint purging'
).split(' ')

/** Rules about the history of a task: the rows of the first version have one event for each task, and the runs of two of them. */
const ofAbbreviatedRows = ['last-event', 'event-order', 'run-numbers']

/** Rows that a ledger of version 4 may have in addition to those of the first version. */
const boardRows = [
  `insert into board (name, parent_id, next_number, seen_seq, created_at) values ('main', null, 8, 99, 1000)`,
  `insert into board_task (board, number, task_id, fields) values ('main', 7, 'task-child', '{}')`,
  `insert into mail (id, board, sender, recipient, kind, topic, body, created_at)
    values ('mail-1', 'main', 'ann', 'bob', 'message', '', 'it''s so', 1000)`,
]

/** Rows of memory that a ledger of versions 5 to 10 may have. */
const memoryRows = [
  `insert into observation (id, session_id, branch, type, content, created_at)
    values ('obs-old', 'before', 'main', 'insight', 'Seen before', 1000)`,
  `insert into fact (id, branch, text, category, confidence, status, disputed, subject, created_at, updated_at)
    values ('fact-old', 'main', 'Known before', 'insight', 100, 'active', 0, 'before known', 1000, 1000)`,
]

/** The policy that versions before 8 wrote for a child whose parent receives a message, with the same text in another field. */
const systemPrompt = 'say "tellParent":true'
const notifying = (version: number) => {
  const policy = version < 8 ? { tellParent: true, systemPrompt } : { notifyParent: true, systemPrompt }
  return `update task set policy = '${JSON.stringify(policy)}' where id = 'task-grandchild'`
}
const notifyingPolicy = { notifyParent: true, systemPrompt }

/** The branch of memory that every ledger has, including upgraded ones. */
const firstBranch = [{ name: 'main', parent: null, status: 'active' }]

function withFile<R>(file: string, work: (connection: ReturnType<typeof connect>) => R): R {
  const connection = connect(file, { busyTimeoutMs: 50 })
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}

const rowsIn = (file: string, sql: string): Rows =>
  withFile(file, (connection) => connection.run({ sql, parameters: [], want: 'rows' }) as Rows)

const contentOf = (file: string): Rows[] => tables.map((table) => rowsIn(file, `select * from "${table}"`))

/** The statements that make a ledger of a version from one of the version before. The first has a row of every kind. */
function stepTo(dialect: Parameters<typeof migrationTexts>[0], version: number): string[] {
  const texts = migrationTexts(dialect, version - 1, version)
  return version === 1 ? [...texts, ...firstVersionRows] : texts
}

const images = new Map<number, Buffer>()

/** The bytes of a ledger file of that version: those of the version before, with one more migration. */
function imageOf(version: number): Buffer {
  const made = images.get(version)
  if (made !== undefined) return made
  const file = ledgerFile()
  if (version > 1) writeFileSync(file, imageOf(version - 1))
  withFile(file, (old) => {
    // A commit for each statement, which need not reach the disk.
    old.pragma('synchronous = off')
    for (const text of stepTo(sqliteDialect, version)) old.execute(text)
    old.pragma(`application_id = ${applicationId}`)
    old.pragma(`user_version = ${version}`)
  })
  const image = readFileSync(file)
  images.set(version, image)
  return image
}

/** A ledger file of that version. */
function fileOf(version: number): string {
  const file = ledgerFile()
  writeFileSync(file, imageOf(version))
  return file
}

/** The columns and indexes of a ledger file. */
const shapeOf = (file: string) => ({
  columns: [...tables, ...newTables].map((table) => [
    table,
    rowsIn(file, `select name, type, "notnull", dflt_value, pk from pragma_table_info('${table}') order by name`),
  ]),
  others: rowsIn(file, `select type, name, tbl_name, sql from sqlite_schema where type <> 'table' order by name`),
})

async function numbersOf(ledger: Ledger) {
  const found: Record<string, unknown> = {}
  for (const id of Object.keys(upgradedNumbers)) {
    const task = await ledger.read((tx) => tx.task.get(id))
    found[id] = task && [task.depth, task.childCount, task.claimable]
    // The statement of the migration agrees with the code, or the next write would change the value.
    expect([id, task?.claimable]).toEqual([id, task && isClaimable(task)])
  }
  return found
}

/** One server for all, a schema for each version. */
let server: Promise<PGlite> | undefined

afterAll(async () => {
  await (await server)?.close()
})

describe.each(earlierVersions)('a ledger of version %i', (version) => {
  it('X-013 an upgraded ledger keeps every row unchanged, and has the columns and indexes of a new one', async () => {
    const file = fileOf(version)
    const before = contentOf(file)
    await (await openLedger(file)).close()
    expect(contentOf(file)).toMatchObject(before)
    expect(contentOf(file).map((rows) => rows.length)).toEqual(before.map((rows) => rows.length))
    const fresh = ledgerFile()
    await (await openLedger(fresh)).close()
    expect(shapeOf(file)).toEqual(shapeOf(fresh))
    expect(rowsIn(file, 'select name, parent, status from branch')).toEqual(firstBranch)
    expect(rowsIn(file, 'pragma user_version')).toEqual([{ user_version: ledgerVersion }])
    expect(rowsIn(file, 'pragma foreign_key_check')).toEqual([])
    expect(rowsIn(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  it('X-013 the check finds nothing in an upgraded ledger on which an engine has worked', async () => {
    const file = fileOf(version)
    const engine = await createEngine({ ledger: file, executors: { work: () => 'worked' } })
    expect(await engine.result('task-child')).toBe('worked')
    expect(await engine.result('task-running')).toBe('worked')
    await engine.close()
    const { violations } = await checkLedger(file)
    expect(violations.filter(({ rule }) => !ofAbbreviatedRows.includes(rule))).toEqual([])
  })

  it('X-013 an upgraded ledger does not reuse the number of a journal entry, even of a purged one', async () => {
    const file = fileOf(version)
    const highest = withFile(file, (old) => {
      old.execute(`update sqlite_sequence set seq = seq + 100 where name = 'call'`)
      return (
        old.run({ sql: `select seq from sqlite_sequence where name = 'call'`, parameters: [], want: 'rows' }) as Rows
      )[0]
    })
    const ledger = await openLedger(file)
    onTestFinished(() => ledger.close())
    await ledger.step({
      name: 'insert a call',
      decide: (tx) =>
        tx.call.insert(callRow({ id: 'call-new', taskId: 'task-child', kind: 'value', status: 'completed' })),
    })
    const made = await ledger.read((tx) => tx.call.get('call-new'))
    expect(made).toMatchObject({ seq: Number(highest?.['seq']) + 1, kind: 'value', parentId: null })
  })

  it('X-013 an upgraded ledger stores facts, and keeps its boards and mail', async () => {
    const file = fileOf(version)
    const hasBoards = version >= 4
    if (hasBoards) withFile(file, (old) => old.execute(boardRows.join(';')))
    const ledger = await openLedger(file)
    onTestFinished(() => ledger.close())
    await ledger.step({
      name: 'remember',
      decide: (tx) => tx.fact.insert(factRow({ id: 'fact', text: 'Upgrades keep everything' })),
    })
    const found = await ledger.read((tx) => tx.fact.search(['main'], ['upgrade'], 9))
    expect(found.map(({ fact }) => fact.id)).toEqual(['fact'])
    const page = await ledger.read((tx) => tx.board.page('main', 0, 9))
    expect(page.map(({ entry, task }) => [entry.number, task.id])).toEqual(hasBoards ? [[7, 'task-child']] : [])
    const mail = await ledger.read((tx) => tx.mail.unread('main', 'bob', 9))
    expect(mail.map(({ body }) => body)).toEqual(hasBoards ? ["it's so"] : [])
  })

  it.runIf(version >= 5)(
    'X-013 an upgraded ledger keeps the confidence of facts without recorded sources',
    async () => {
      const file = fileOf(version)
      withFile(file, (old) => old.execute(memoryRows.join(';')))
      const engine = await createEngine({ ledger: file, work: false })
      onTestFinished(() => engine.close())
      const unknown = { kind: 'unknown' }
      const { facts } = await engine.bus.call('mem:facts', {})
      expect(facts).toMatchObject([{ text: 'Known before', confidence: 1, statedBy: [unknown] }])
      await engine.bus.call('mem:consolidate', { level: 'session', sessionId: 'before' })
      const [seen] = (await engine.bus.call('mem:facts', {})).facts
      expect(seen).toMatchObject({ text: 'Seen before', confidence: 0.7, statedBy: [unknown] })
    },
  )

  it('X-013 an upgraded ledger has the depth, the child count and the claimability of every task', async () => {
    const ledger = await openLedger(fileOf(version))
    onTestFinished(() => ledger.close())
    expect(await numbersOf(ledger)).toEqual(upgradedNumbers)
    expect(await ledger.read((tx) => tx.task.countQueued())).toEqual({ ready: 1, claimable: 2 })
    expect(await ledger.read((tx) => tx.task.get('task-child'))).toMatchObject({
      fence: 0,
      leaseMs: null,
      leaseUntil: null,
      role: null,
      tags: [],
      deadline: null,
      lane: '',
    })
  })

  it('X-013 a ledger on PostgreSQL is upgraded in the same way', async () => {
    server ??= createPglite()
    const client = await server
    await client.query(`create schema version_${version}`)
    await client.query(`set search_path to version_${version}`)
    for (let step = 1; step <= version; step++) await client.exec(stepTo(postgresDialect, step).join(';\n'))
    await client.query(notifying(version))
    await client.query('create table ledger_version (version bigint not null)')
    await client.query(`insert into ledger_version (version) values (${version})`)
    const ledger = await openPostgresLedger(client)
    expect(await numbersOf(ledger)).toEqual(upgradedNumbers)
    expect((await ledger.read((tx) => tx.message.list('task-child'))).length).toBe(2)
    expect(await ledger.read((tx) => tx.task.get('task-grandchild'))).toMatchObject({
      policy: notifyingPolicy,
      createdBy: null,
      mayRunCommands: true,
    })
    expect((await ledger.read((tx) => tx.instance.open())).map((instance) => instance.leaseUntil)).toEqual([0])
    expect((await client.query('select name, parent, status from branch')).rows).toEqual(firstBranch)
    await ledger.close()
  })

  it('X-013 an upgraded ledger notifies the parent of a child that was created with `tellParent`, the earlier name of `notifyParent`', async () => {
    const file = fileOf(version)
    withFile(file, (old) =>
      old.execute(`${notifying(version)}; update task set parent_id = 'task-byhand' where id = 'task-grandchild'`),
    )
    const engine = await createEngine({ ledger: file, work: false })
    onTestFinished(() => engine.close())
    expect(rowsIn(file, `select policy from task where id = 'task-grandchild'`)).toEqual([
      { policy: JSON.stringify(notifyingPolicy) },
    ])
    await engine.start('task-grandchild')
    await engine.complete('task-grandchild')
    expect((await engine.messages('task-byhand')).map(({ content }) => content)).toEqual([
      expect.stringMatching(/^\[background\] task-grandchild ".*" completed$/),
    ])
  })

  it('X-013 an engine recovers the runs of an upgraded ledger, ends its waits, and claims, runs and cancels its tasks', async () => {
    const reported: unknown[] = []
    const engine = await createEngine({
      ledger: fileOf(version),
      executors: { work: () => 'worked' },
      onError: (error, context) => reported.push([error, context]),
    })
    onTestFinished(() => engine.close())
    expect(await engine.result('task-child')).toBe('worked')
    expect(await engine.result('task-running')).toBe('worked')
    expect((await engine.runs('task-running'))[0]).toMatchObject({ status: 'closed', outcome: 'interrupted' })
    expect((await engine.messages('task-child')).map((message) => message.content)).toEqual(['hello', 'good day'])
    expect((await engine.calls('task-sibling'))[0]).toMatchObject({ id: 'call-done', status: 'completed' })
    expect((await engine.create({ executor: 'work', input: { deep: [1, null] } as never, key: 'the-key' })).id).toBe(
      'task-child',
    )

    await engine.complete('task-byhand', { by: 'hand' })
    expect((await engine.get('task-blocked'))?.blockedBy).toEqual([])
    expect((await engine.settled('task-waiting')).status).toBe('completed')

    const claimed = []
    for (let task = await engine.claim(null, { owner: 'ann', leaseMs: 60_000 }); task !== null; ) {
      claimed.push(task)
      task = await engine.claim(null, { owner: 'ann', leaseMs: 60_000 })
    }
    expect(claimed.map((task) => task.id)).toEqual(['task-grandchild', 'task-blocked', 'task-released'])
    expect(await engine.complete(claimed[0] as never)).toMatchObject({ status: 'completed', owner: 'ann' })

    // The board numbers the tasks by age when it is first read.
    const { tasks: numbered } = await engine.bus.call('board:list', {})
    expect(numbered.map(({ id }) => id)).toEqual(numbered.map((_, index) => index + 1))
    const seqs = await Promise.all(numbered.map(async ({ taskId }) => (await engine.get(taskId))?.seq ?? 0))
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect(numbered.find(({ taskId }) => taskId === 'task-grandchild')).toMatchObject({ owner: 'ann' })

    // The group has ended with its last task. An open task accepts a child, which is canceled with it.
    expect((await engine.get('task-root'))?.status).toBe('completed')
    const child = await engine.create({ name: 'new', parentId: 'task-released' })
    await engine.cancel('task-released')
    expect((await engine.get(child.id))?.status).toBe('canceled')
    expect(reported).toEqual([])
  })
})
