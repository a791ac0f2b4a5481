// Large ledgers for rows that measure what history costs. A real engine runs one task; its rows are then copied inside SQLite under other
// ids, because running a million tasks would take longer than all rows together. The copies do not depend on which tables and columns
// there are.
import { closeSync, existsSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type DatabaseConstructor from 'better-sqlite3'
import type { World } from './row.ts'

type PreparingWorld = Pick<World, 'errand' | 'packageRoot' | 'prepared'>

export const settledFile = (prepared: string, count: number): string => join(prepared, `settled-${count}.db`)

/** A ledger with this many completed tasks, each with its run and its events. Rows that need the same share the file. */
export async function prepareSettled(world: PreparingWorld, count: number): Promise<void> {
  const file = settledFile(world.prepared, count)
  if (existsSync(file)) return
  const unfinished = `${file}.unfinished`
  const engine = await (await world.errand()).createEngine({ ledger: unfinished, executors: { trivial: () => null } })
  const { id } = await engine.create({ executor: 'trivial' })
  await engine.idle()
  await engine.close()
  copyTask(world.packageRoot, unfinished, id, count - 1)
  renameSync(unfinished, file)
}

/** Adds copies of a task with its rows in all tables. `set`: columns of `task` with another value in the copies. */
export function copyTask(
  packageRoot: string,
  path: string,
  id: string,
  count: number,
  set: Readonly<Record<string, number | string>> = {},
): void {
  const Database = createRequire(join(packageRoot, 'package.json'))('better-sqlite3') as typeof DatabaseConstructor
  const database = new Database(path)
  database.pragma('synchronous = off')
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).pluck().all() as string[]
  const copies = tables.flatMap((table) => {
    const columns = columnsOf(database, table)
    const key = table === 'task' ? 'id' : 'task_id'
    if (!columns.some(({ name }) => name === key)) return []
    return copyStatement(database, table, key, id, columns, table === 'task' ? set : {}) ?? []
  })
  database.transaction(() => {
    for (const copy of copies) copy.run({ id, count, salt: count })
  })()
  database.pragma('wal_checkpoint(truncate)')
  database.close()
  // The disk must not be busy with the copies while samples are taken.
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

interface Column {
  name: string
  /** Numbered by SQLite. */
  numbered: boolean
}

type Database = DatabaseConstructor.Database

function columnsOf(database: Database, table: string): Column[] {
  const columns = database.pragma(`table_info(${table})`) as Array<{ name: string; type: string; pk: number }>
  return columns.map(({ name, type, pk }) => ({ name, numbered: pk === 1 && type.toUpperCase() === 'INTEGER' }))
}

/** An SQL expression of letters as ids have them, scattered by the number. */
function letters(number: string, count: number): string {
  return Array.from(
    { length: count },
    (_, index) =>
      `substr('abcdefghijklmnopqrstuvwxyz234567', 1 + ((((${number}) % 4294967296) >> ${27 - 5 * index}) & 31), 1)`,
  ).join(' || ')
}

/** Undefined if the task has no rows in the table. The ids of 64 copies begin alike, as those that an engine draws. */
function copyStatement(
  database: Database,
  table: string,
  key: string,
  id: string,
  columns: readonly Column[],
  set: Readonly<Record<string, number | string>>,
): DatabaseConstructor.Statement | undefined {
  const rows = database.prepare(`select * from ${table} where ${key} = ?`).all(id) as Array<Record<string, unknown>>
  if (rows.length === 0) return undefined
  const copyId = `'task-' || ${letters('(n / 64 + @salt) * 2654435761', 3)} || ${letters('n * 2246822519', 6)} || printf('%06x', n) || printf('%04x', @salt % 65536)`
  const copied = columns.filter(({ numbered }) => !numbered)
  const values = copied.map(({ name }) => {
    if (name === key) return copyId
    if (name in set) return typeof set[name] === 'string' ? `'${set[name]}'` : String(set[name])
    const namesTask = rows.some((row) => typeof row[name] === 'string' && row[name].includes(id))
    return namesTask ? `replace(original."${name}", @id, ${copyId})` : `original."${name}"`
  })
  const names = copied.map(({ name }) => `"${name}"`).join(', ')
  return database.prepare(
    `with recursive number (n) as (select 1 where @count > 0 union all select n + 1 from number where n < @count)
     insert into ${table} (${names})
     select ${values.join(', ')} from number cross join (select * from ${table} where ${key} = @id) as original`,
  )
}
