// The tables of a ledger as the migrations make them, read from an empty one, so that no list must be kept up to date. Both databases have
// the same, except for the text index of facts, which is derived from them.
import { once } from '../../../core/once.ts'
import { migrationTexts } from '../../migrations/migrations.ts'
import type { TableShape } from '../../snapshot.ts'
import { connect } from './connection.ts'
import { sqliteDialect } from './dialect.ts'

interface ColumnInfo {
  name: string
  type: string
  /** Its place in the primary key, from 1; 0 outside of it. */
  pk: number
}

/** All tables whose rows are data of the ledger, in the order of their creation. */
export const tableShapes = once((): readonly TableShape[] => {
  const connection = connect(':memory:', { busyTimeoutMs: 0 })
  const rowsOf = (sql: string) => connection.run({ sql, parameters: [], want: 'rows' })
  try {
    for (const text of migrationTexts(sqliteDialect, 0)) connection.execute(text)
    const tables = rowsOf(`select name, sql from sqlite_schema
      where type = 'table' and name not like 'sqlite%' and name not like 'fact_text%' order by rowid`)
    return (tables as Array<{ name: string; sql: string }>).map(({ name, sql }) => {
      const columns = rowsOf(`select name, type, pk from pragma_table_info('${name}')`) as ColumnInfo[]
      const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
      return {
        name,
        columns: columns.map((column) => column.name),
        key: key.map((column) => column.name),
        textKey: new Set(key.filter(({ type }) => type === 'TEXT').map((column) => column.name)),
        isNumbered: /autoincrement/i.test(sql),
      }
    })
  } finally {
    connection.close()
  }
})
