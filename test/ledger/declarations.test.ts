// What a statement says of itself, where it is defined, agrees with what PostgreSQL plans for its text: on a server this decides which steps
// run beside each other, and in a draft which records are still known.
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Whose } from '../../src/ledger/concern.ts'
import { postgresDialect } from '../../src/ledger/postgres/dialect.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.ts'
import { type CompiledStatement, createCompiler, type Statement, sql } from '../../src/ledger/statement.ts'
import { ofKey, ofTask } from '../../src/ledger/table-mapping.ts'
import { createTables } from '../../src/ledger/tables/tables.ts'
import { createPglite } from './pglite.ts'

const compiler = createCompiler(postgresDialect)
let server: PGlite

beforeAll(async () => {
  server = await createPglite()
  await (await openPostgresLedger(server)).close()
})

afterAll(() => server.close())

/** All statements of the tables. */
function allStatements(): CompiledStatement[] {
  const prepared: Statement[] = []
  const kept = (statement: Statement): Statement => {
    prepared.push(statement)
    return statement
  }
  createTables(postgresDialect, {
    dialect: postgresDialect,
    prepare: (...given) => kept(compiler.prepare(...given)),
    prepareText: (...given) => kept(compiler.prepareText(...given)),
  })
  return prepared.map((statement) => statement())
}

interface Plan {
  'Node Type': string
  Operation?: string
  'Relation Name'?: string
  'Conflict Resolution'?: string
  Plans?: Plan[]
}

/** What PostgreSQL would write. */
async function writtenBy(text: string): Promise<Pick<CompiledStatement, 'inserts' | 'changes'>> {
  const [result] = await server.exec(`explain (generic_plan, format json) ${text}`)
  const rows = result?.rows as Array<{ 'QUERY PLAN': Array<{ Plan: Plan }> }>
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
  if (plan?.['Node Type'] !== 'ModifyTable') return {}
  const isInsert = plan.Operation === 'Insert' && plan['Conflict Resolution'] === undefined
  return { [isInsert ? 'inserts' : 'changes']: plan['Relation Name'] }
}

const ofTasks = /^(?:id|task_id|blocker_id|worker_id|parent_id|lane)$/
const ofKeys = /^(?:key|name|recipient|request_id)$/
const ofBoards = /^(?:name|board)$/
/** The columns that hold what the values of a statement name. */
const columns: Partial<Record<Whose, RegExp>> = {
  tasks: ofTasks,
  neighbours: ofTasks,
  calls: /^(?:id|call_id)$/,
  keys: ofKeys,
  branches: ofKeys,
  board: ofBoards,
  numbering: ofBoards,
}

/** The columns with which the values of a statement are compared, or to which they are written. */
function columnsIn(text: string): Array<{ column: string; place: number }> {
  const compared = Array.from(text.matchAll(/(\w+)"? = \$(\d+)/g), ([, column = '', hole]) => ({ column, hole }))
  const [, list = '', holes = ''] = /^insert into "?\w+"? \(([^)]+)\) values \(([^()]+)/.exec(text) ?? []
  const values = holes.split(', ')
  const inserted = list
    .split(', ')
    .map((column, at) => ({ column: column.replaceAll('"', ''), hole: values[at]?.slice(1) }))
  return [...compared, ...inserted].map(({ column, hole }) => ({ column, place: Number(hole) - 1 }))
}

async function complaintsAbout(statement: CompiledStatement): Promise<string[]> {
  const { sql: text, names, concern, inserts, changes } = statement
  const complain = (what: string) => `${what}, in: ${text}`
  const said = JSON.stringify({ inserts, changes })
  const planned = JSON.stringify(await writtenBy(text))
  const complaints = said === planned ? [] : [complain(`it says ${said} and does ${planned}`)]
  const found = columnsIn(text)
  const named = new Set(concern.places.map((place) => names[place]))
  const isNamed = (place: number) => named.has(names[place])
  const fits = columns[concern.of]
  for (const name of fits === undefined ? [] : named) {
    if (!found.some(({ column, place }) => names[place] === name && fits?.test(column)))
      complaints.push(complain(`${name} does not name ${concern.of}`))
  }
  if (concern.of !== 'tasks') return complaints
  for (const { column, place } of found) {
    if (['task_id', 'blocker_id', 'worker_id'].includes(column) && names[place] !== undefined && !isNamed(place))
      complaints.push(complain(`${names[place]} names a task too`))
  }
  return complaints
}

it('each statement of the tables says which table it writes, and whose rows it concerns', async () => {
  const complaints: string[] = []
  const statements = allStatements()
  for (const statement of statements) complaints.push(...(await complaintsAbout(statement)))
  expect(statements.length).toBeGreaterThan(200)
  expect(complaints).toEqual([])
})

const wrong: Array<[what: string, statement: Statement, complaint: string]> = [
  [
    'names another table than it writes',
    compiler.prepareText({ changes: 'run' }, (hole) => sql`update task set depth = 1 where id = ${hole('id', ofTask)}`),
    'it says {"changes":"run"} and does {"changes":"task"}',
  ],
  [
    'says that it inserts, but may change a row',
    compiler.prepareText(
      { inserts: 'setting' },
      () => sql`insert into setting (name, value) values ('a', 'b') on conflict (name) do update set value = 'c'`,
    ),
    'it says {"inserts":"setting"} and does {"changes":"setting"}',
  ],
  [
    'does not say that it writes',
    compiler.prepareText((hole) => sql`delete from call where task_id = ${hole('task', ofTask)}`),
    'it says {} and does {"changes":"call"}',
  ],
  [
    'takes a name for the id of a task',
    compiler.prepare((db, hole) => db.selectFrom('task').select('id').where('name', '=', hole('name', ofTask))),
    'name does not name tasks',
  ],
  [
    'takes the id of a task for a key',
    compiler.prepare((db, hole) =>
      db.selectFrom('run').select('run.number').where('task_id', '=', hole('task', ofKey)),
    ),
    'task does not name keys',
  ],
  [
    'names one of the two tasks whose rows it writes',
    compiler.prepare((db, hole) =>
      db.deleteFrom('dependency').where('task_id', '=', hole('task', ofTask)).where('blocker_id', '=', hole('blocker')),
    ),
    'blocker names a task too',
  ],
]

it.each(wrong)('a statement that %s would be found', async (_what, statement, complaint) => {
  expect(await complaintsAbout(statement())).toEqual([expect.stringContaining(complaint)])
})

it('a statement whose values name things of several kinds has to say which of them it concerns', () => {
  const build = compiler.prepare((db, hole) =>
    db.selectFrom('task').select('id').where('id', '=', hole('id', ofTask)).where('key', '=', hole('key', ofKey)),
  )
  expect(build).toThrow('names tasks and keys')
})
