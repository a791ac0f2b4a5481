// No statement walks through the ledger: what a task, a claim or a cancel costs must not depend on how many other tasks there are.
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Op, Tx } from '../../../src/ledger/ledger.ts'
import { postgresDialect } from '../../../src/ledger/postgres/dialect.ts'
import { type Connection, connect } from '../../../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../../../src/ledger/sqlite/dialect.ts'
import { busyTimeoutMs, openFile } from '../../../src/ledger/sqlite/open-file.ts'
import { type Request, sql } from '../../../src/ledger/statement.ts'
import { createTables } from '../../../src/ledger/tables/tables.ts'
import { ledgerFile } from '../../engine/world.ts'
import { parse } from '../../house/source.ts'
import { taskRow } from '../factories.ts'
import { driveOn, migrated } from './migrated.ts'
import { buildingLines, compilingAtOnce, narrow, type Recorder, recorder, singleUses, wide } from './prepared.ts'
import { indexesOf, planOf, wideLines } from './query-plans.ts'
import { sorts, wideReads } from './wide-reads.ts'

/** Records every statement of the ledger, as it is built for tasks that are many and for tasks that are few. */
async function recordAll(): Promise<Recorder> {
  const { connection } = await openFile(':memory:', systemClock, () => 0.5)
  const recorded = recorder(sqliteDialect)
  const tx = createTables(recorded.dialect, compilingAtOnce(recorded.dialect))
  fillWithOpenTasks(tx, connection)
  for (const op of singleUses(tx)) driveOn(connection, op)
  connection.close()
  return recorded
}

function fillWithOpenTasks(tx: Tx, connection: Connection): void {
  const add = (row: Parameters<typeof taskRow>[0]) => driveOn(connection, tx.task.insert(taskRow(row)))
  connection.execute('begin')
  for (const id of [wide, narrow]) add({ id, group: true })
  add({ id: 'child', parentId: narrow })
  // More than one statement reads.
  for (let n = 0; n < 1_001; n++) {
    add({ id: `claimable-${n}`, key: `k${n}`, parentId: wide, claimable: true })
    add({ id: `working-${n}`, executor: 'x', status: 'working', runOpen: true })
  }
  connection.execute('commit')
}

let recording: Promise<Recorder> | undefined
const allRecorded = (): Promise<Recorder> => (recording ??= recordAll())

/** The lines of plans that no reason allows, each with its statement. `used` collects the reasons. */
function complaintsAbout(connection: Connection, texts: Iterable<string>, used = new Set<object>()): string[] {
  const indexes = indexesOf(connection)
  return [...texts].flatMap((text) => {
    const meets = (reason: { of?: RegExp }) => reason.of === undefined || reason.of.test(text)
    const complaints = wideLines(planOf(connection, text), indexes, text).filter((line) => {
      const isSort = line.startsWith('USE TEMP B-TREE')
      const reasons = isSort ? sorts.filter(meets) : wideReads.filter((read) => read.line.test(line) && meets(read))
      for (const reason of reasons) used.add(reason)
      return reasons.length === 0
    })
    return complaints.map((line) => `${line}, in: ${text}`)
  })
}

it('X-016 no statement of the ledger walks through a table, or sorts one, without a reason', async () => {
  const { texts } = await allRecorded()
  const { connection } = await migrated()
  const used = new Set<object>()
  expect(texts.size).toBeGreaterThan(500)
  expect(complaintsAbout(connection, texts, used)).toEqual([])
  expect([...wideReads, ...sorts].filter((reason) => !used.has(reason))).toEqual([])
})

const sought: Array<[what: string, read: (tx: Tx) => Op<unknown>, by: string]> = [
  ['tasks by creation', (tx) => tx.task.newest({}, 10, 0), 'SEARCH task USING INTEGER PRIMARY KEY'],
  ['tasks by change, at the end of the feed', (tx) => tx.event.before(9, 10), 'SEARCH event USING INTEGER PRIMARY KEY'],
  ['tasks by state', (tx) => tx.task.list({ statuses: ['failed'] }, 10), 'SEARCH task USING INDEX task_by_status'],
  ['tasks by parent', (tx) => tx.task.children('above'), 'SEARCH task USING INDEX task_child'],
  [
    'messages by time',
    (tx) => tx.message.list('a'),
    'SEARCH message USING INDEX sqlite_autoindex_message_2 (task_id=?)',
  ],
  ['calls by task', (tx) => tx.call.list('a'), 'SEARCH call USING INDEX call_of_task (task_id=?)'],
  ['open calls by task', (tx) => tx.call.open('a'), 'SEARCH call USING INDEX call_open (task_id=?)'],
]

it.each(sought)('S0-097 an index finds %s', async (_what, read, by) => {
  const { connection, tx, drive } = await migrated()
  for (const row of [
    { id: 'above', group: true },
    { id: 'a', parentId: 'above' },
  ])
    drive(tx.task.insert(taskRow(row)))
  // A list of few tasks of a state does not read them in the order of priorities.
  connection.execute('begin')
  for (let n = 0; n < 1_001; n++)
    drive(tx.task.insert(taskRow({ id: `failed-${n}`, status: 'failed', completedAt: 1 })))
  connection.execute('commit')
  const seen: Request[] = []
  drive(read(tx), seen)
  const plans = seen.map(({ sql }) => planOf(connection, sql))
  expect(plans.flat().filter((line) => line.startsWith(by)).length).toBeGreaterThan(0)
  expect(plans.flat().filter((line) => /^SCAN (?:task|event|message|call)\b/.test(line))).toEqual([])
})

it('a removal of purged rows does not walk down a family to find its leaves', async () => {
  const { tx, drive } = await migrated()
  for (let n = 0; n < 5; n++) drive(tx.task.insert(taskRow({ id: `t${n}`, parentId: n === 0 ? null : `t${n - 1}` })))
  drive(tx.purge.begin([{ root: 't0', outside: [] }]))
  const seen: Request[] = []
  expect(drive(tx.purge.remove(['t4', 't3', 't2', 't1', 't0'], 100), seen)).toBe(false)
  expect(drive(tx.task.get('t0'))).toBeUndefined()
  expect(seen.filter(({ sql }) => sql.includes('recursive'))).toEqual([])
})

it('every place in the source that builds a statement is among those whose plans are read', async () => {
  const { lines } = await allRecorded()
  const ofPostgres = recorder(postgresDialect)
  createTables(ofPostgres.dialect, compilingAtOnce(ofPostgres.dialect))
  expect(buildingLines().length).toBeGreaterThan(100)
  expect(buildingLines().filter((line) => !lines.has(line) && !ofPostgres.lines.has(line))).toEqual([])
})

it('no plan changes when another program runs ANALYZE, not before the next start and not after it', async () => {
  const { texts } = await allRecorded()
  const file = ledgerFile()
  const open = async () => {
    const { connection } = await openFile(file, systemClock, () => 0.5)
    onTestFinished(() => connection.close())
    return connection
  }
  const first = await open()
  fillWithOpenTasks(createTables(sqliteDialect), first)
  const other = connect(file, { busyTimeoutMs })
  other.execute('analyze')
  expect(complaintsAbout(other, texts).length).toBeGreaterThan(0)
  other.close()
  expect(complaintsAbout(first, texts)).toEqual([])
  expect(complaintsAbout(await open(), texts)).toEqual([])
})

it('a statement that is built and not read would be found', () => {
  const built = (code: string) => buildingLines([parse('src/ledger/tables/planted.ts', code)])
  expect(built('\nconst all = prepare((db) => db.selectFrom(`task`))')).toEqual(['src/ledger/tables/planted.ts:2'])
  expect(built('return queryRows<object>(page.compile())')).toHaveLength(1)
  expect(built('yield* this.#reader.query<{ seq: number }>(text)')).toHaveLength(1)
  expect(built('const { prepare, prepareText } = compiler // prepare(x)')).toEqual([])
})

it('a statement that walks through the ledger would be found', async () => {
  const { connection } = await migrated()
  const recorded = recorder(sqliteDialect)
  createTables(recorded.dialect, compilingAtOnce(recorded.dialect))
  expect(complaintsAbout(connection, recorded.texts)).toEqual([])
  compilingAtOnce(recorded.dialect).prepareText((hole) => sql`select id from task where name = ${hole('name')}`)
  expect(complaintsAbout(connection, recorded.texts)).toEqual(['SCAN task, in: select id from task where name = +?'])
})

const walks: Array<[what: string, text: string]> = [
  ['all events', 'select * from event where at > 1'],
  ['a whole index', 'select count(*) from task'],
  ['all tasks by the order of an index', 'select id from task order by updated_at'],
  ['all tasks of a state', `select id from task where status = 'failed'`],
  ['all open calls', `select id from call where status in ('pending', 'in_progress') and name = 'x'`],
  ['all facts with their words', 'select rowid from fact_text'],
  ['a sort of the events of a task', `select * from event where task_id = 'a' order by at`],
  ['the tasks since a number', 'select id from task where seq > 1'],
  [
    'all open tasks to find those of a family',
    `with recursive below (id) as (select id from task where parent_id = 'a' union select task.id from task join below on task.parent_id = below.id)
      select task.id from below join task on task.id = below.id where task.status in ('submitted', 'working')`,
  ],
]

it.each(walks)('a walk through %s would be found', async (_what, text) => {
  const { connection } = await migrated()
  expect(complaintsAbout(connection, [text]).length).toBeGreaterThan(0)
})
