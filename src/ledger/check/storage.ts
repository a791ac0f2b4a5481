// Rules about what is stored: the file, the JSON in its columns, and the numbers that the database assigns. All rows with JSON are
// read once, so the rules about a task by itself are checked with them.
import { ErrandError } from '../../core/errors.ts'
import { fromJson } from '../../core/json.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { unreadableFields } from '../damaged-columns.ts'
import type { TableName } from '../schema.ts'
import type { StoredRow, TableShape } from '../snapshot.ts'
import { tableShapes } from '../sqlite/table-shapes.ts'
import { entries } from '../tables/board/board.ts'
import { calls } from '../tables/call.ts'
import { events } from '../tables/event.ts'
import { facts } from '../tables/memory/fact.ts'
import { observations } from '../tables/memory/observation.ts'
import { stints, teams } from '../tables/memory/team.ts'
import { messages } from '../tables/message.ts'
import { runs } from '../tables/run.ts'
import { tasks } from '../tables/task-columns.ts'
import { type Check, type Findings, highestSeq, type Rule } from './rule.ts'
import { taskRules } from './tasks.ts'

export const damage: Rule = {
  name: 'storage-damage',
  explains:
    'The database keeps its own rules: its pages and indexes are whole, each column holds what it may hold, and each row that another refers to exists.',
}

const damageCheck: Check = {
  rules: [damage],
  async run(ledger, findings) {
    for (const message of await ledger.damages(findings.limit + 1)) findings.add(damage, ledger.name, message)
  },
}

const unreadable: Rule = {
  name: 'unreadable-row',
  explains:
    'Each column of JSON holds JSON of its type, because errand cannot use a row with another text and fails the task that has one.',
}

interface ReadTable {
  readonly jsonColumns: readonly string[]
  fromStored(row: StoredRow): object
}

const ofJson = (column: string): ReadTable => ({
  jsonColumns: [column],
  fromStored: (row) => ({ [column]: fromJson(row[column] as string) }),
})

/** All tables with JSON, except that of the tasks. */
const tablesWithJson: ReadonlyMap<string, ReadTable> = new Map<string, ReadTable>([
  ...[runs, calls, messages, events, entries, observations, facts, teams, stints].map((table): [string, ReadTable] => [
    table.name,
    table,
  ]),
  ['setting', ofJson('value')],
  ['fact_vector', ofJson('vector')],
])

const rowsCheck: Check = {
  rules: [unreadable, ...taskRules],
  async run(ledger, findings) {
    for (const shape of tableShapes()) {
      const table = shape.name === tasks.name ? tasks : tablesWithJson.get(shape.name)
      if (table === undefined) continue
      // Of tasks all columns are checked.
      const read = table === tasks ? shape : { ...shape, columns: shape.columns.filter(isNeededOf(shape, table)) }
      for await (const batch of ledger.batches(read)) {
        findings.rows += batch.length
        if (table === tasks) findings.tasks += batch.length
        for (const row of batch) checkRow(row, shape, table, findings)
      }
    }
  },
}

/** The JSON, what names the row, and what decides of which type the JSON is. */
const isNeededOf =
  ({ key }: TableShape, { jsonColumns }: ReadTable) =>
  (column: string): boolean =>
    key.includes(column) || jsonColumns.includes(column) || ['id', 'task_id', 'kind', 'status'].includes(column)

function checkRow(row: StoredRow, { name, key }: TableShape, table: ReadTable, findings: Findings): void {
  const subject = String(row['task_id'] ?? row['id'] ?? row[key[0] as string])
  const where = `the row of ${name} with ${key.map((column) => `${column} ${row[column]}`).join(', ')}`
  let record: object
  try {
    record = table.fromStored(row)
  } catch (error) {
    const column = ErrandError.isInstance(error) ? error.details['column'] : table.jsonColumns[0]
    findings.add(unreadable, subject, `The column ${String(column)} of ${where} is not JSON.`)
    return
  }
  const fields = unreadableFields(record)
  if (fields.length > 0) {
    findings.add(
      unreadable,
      subject,
      `${fields.join(', ')} of ${where} ${fields.length === 1 ? 'is' : 'are'} not JSON of the right type.`,
    )
  }
  if (table !== tasks) return
  for (const rule of taskRules) {
    const fault = rule.faultOf(record as TaskRecord)
    if (fault !== undefined) findings.add(rule, subject, fault)
  }
}

const assigned: Rule = {
  name: 'assigned-numbers',
  explains:
    'No row has a higher number than the last one that the database has assigned, because the next number would be one that is taken, or that a follower of the feed has passed.',
}

const numbersCheck: Check = {
  rules: [assigned],
  async run(ledger, findings) {
    const last = await ledger.lastNumbers()
    for (const { name, isNumbered } of tableShapes()) {
      if (!isNumbered) continue
      const highest = await highestSeq(ledger, name as TableName)
      const most = last.get(name) ?? 0
      if (highest > most)
        findings.add(assigned, name, `It has a row with number ${highest}, and the last number assigned is ${most}.`)
    }
  },
}

export const storageChecks: readonly Check[] = [damageCheck, rowsCheck, numbersCheck]
