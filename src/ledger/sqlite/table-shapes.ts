// The tables and triggers of a ledger as the migrations make them, read from an empty one: no list must be kept up to date. Both databases
// have the same tables, except for the text index of facts, which is derived from them.
import { once } from '../../core/once.ts'
import { migrationTexts } from '../migrations/migrations.ts'
import type { TableShape } from '../snapshot.ts'
import { type Connection, connect } from './connection.ts'
import { sqliteDialect } from './dialect.ts'

interface ColumnInfo {
  name: string
  type: string
  /** Its place in the primary key, from 1; 0 outside of it. */
  pk: number
}

interface TriggerInfo {
  name: string
  sql: string
}

const ledgerSchema = once(() => {
  const connection = connect(':memory:', { busyTimeoutMs: 0 })
  try {
    for (const text of migrationTexts(sqliteDialect, 0)) connection.execute(text)
    return { tables: shapesOf(connection), triggers: triggersOf(connection) }
  } finally {
    connection.close()
  }
})

/** All tables whose rows are data of the ledger, in the order of their creation. */
export const tableShapes = (): readonly TableShape[] => ledgerSchema().tables

/** What keeps rows of a ledger file from being changed. */
export const ledgerTriggers = (): readonly TriggerInfo[] => ledgerSchema().triggers

export function triggersOf(connection: Connection): TriggerInfo[] {
  return rowsOf(connection, `select name, sql from sqlite_schema where type = 'trigger' order by rowid`)
}

function shapesOf(connection: Connection): TableShape[] {
  const tables = rowsOf<{ name: string; sql: string }>(
    connection,
    `select name, sql from sqlite_schema
      where type = 'table' and name not like 'sqlite%' and name not like 'fact_text%' order by rowid`,
  )
  return tables.map(({ name, sql }) => {
    const columns = rowsOf<ColumnInfo>(connection, `select name, type, pk from pragma_table_info('${name}')`)
    const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
    return {
      name,
      columns: columns.map((column) => column.name),
      key: key.map((column) => column.name),
      textKey: new Set(key.filter(({ type }) => type === 'TEXT').map((column) => column.name)),
      isNumbered: /autoincrement/i.test(sql),
    }
  })
}

function rowsOf<T>(connection: Connection, sql: string): T[] {
  return connection.run({ sql, parameters: [], want: 'rows' }) as T[]
}
