// How SQLite would run a statement, judged: does it read more rows than it was asked about? The engine runs no ANALYZE, so a plan depends
// on the schema and the text of a statement alone, and not on what a ledger holds.
import type { Connection } from '../../../src/ledger/sqlite/connection.ts'

/** The tables that grow with the work. */
const growing = ['task', 'event', 'call', 'run', 'dependency', 'message', 'board_task']

/** Few rows have the same value of these columns. */
const identifying = ['rowid', 'id', 'key', 'task_id', 'parent_id', 'blocker_id', 'call_id']

/** How the statement is run, a line for each table, subquery and sort. */
export function planOf(connection: Connection, sql: string): string[] {
  const rows = connection.run({
    sql: `explain query plan ${sql}`,
    parameters: Array(sql.split('+?').length - 1).fill(null),
    want: 'rows',
  })
  return (rows as Array<{ detail: string }>).map(({ detail }) => detail)
}

/** The table of each index. */
export function indexesOf(connection: Connection): Map<string, string> {
  const rows = connection.run({
    sql: `select name, tbl_name as "table" from sqlite_schema where type = 'index'`,
    parameters: [],
    want: 'rows',
  }) as Array<{ name: string; table: string }>
  return new Map(rows.map(({ name, table }) => [name, table]))
}

/**
 * The lines of a plan that read more than a few rows: walks through a table or an index, searches by nothing that identifies a row, sorts
 * and automatic indexes.
 */
export function wideLines(plan: readonly string[], indexes: ReadonlyMap<string, string>, sql: string): string[] {
  const derived = plan.flatMap((line) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(line)?.[1] ?? [])
  const readsGrowing = new RegExp(`\\b(?:from|join|update|into) "?(?:${growing.join('|')})\\b`).test(sql)
  return plan.filter((line) => {
    if (/\bAUTOMATIC\b/.test(line)) return true
    if (line.startsWith('USE TEMP B-TREE')) return readsGrowing
    const walked = /^SCAN (\S+)/.exec(line)?.[1]
    if (walked !== undefined) return !(derived.includes(walked) || isBounded(line))
    return isWideSearch(line, indexes)
  })
}

/** JSON lists, a row of constants, and full-text search for a word or a row. */
function isBounded(line: string): boolean {
  if (line.startsWith('SCAN fact_text ')) return /VIRTUAL TABLE INDEX \d+:(?:M\d|=)/.test(line)
  return / VIRTUAL TABLE INDEX |^SCAN (?:\d+ )?CONSTANT ROW/.test(line)
}

function isWideSearch(line: string, indexes: ReadonlyMap<string, string>): boolean {
  const [, name, index, searched] =
    /^SEARCH (\S+) USING (?:(?:COVERING )?INDEX (\w+)|INTEGER PRIMARY KEY|PRIMARY KEY) \((.*)\)/.exec(line) ?? []
  if (name === undefined || searched === undefined) return false
  const table = index === undefined ? name : indexes.get(index)
  if (!growing.includes(table ?? '')) return false
  const equal = searched.split(' AND ').flatMap((each) => /^(\w+)=\?$/.exec(each)?.[1] ?? [])
  return !equal.some((column) => identifying.includes(column))
}
