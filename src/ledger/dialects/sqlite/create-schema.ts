// Creates the schema of a new ledger. The migrations alter their tables again and again, which takes five times as long as to create the tables
// that they leave in the end. So the migrations run for the first new ledger of a process only; later ledgers get a copy of its schema.
import { migrationTexts } from '../../migrations/migrations.ts'
import type { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { isOwnTable } from './own-schema.ts'

let made: string[] | undefined

/** In the transaction of its caller, on an empty database. */
export function createSchema(connection: Connection): void {
  for (const text of made ?? migrationTexts(sqliteDialect, 0)) connection.execute(text)
  made ??= textsOf(connection)
}

/** The statements that make the schema of a database, and the few rows that its migrations have added. */
function textsOf(connection: Connection): string[] {
  const select = <T>(sql: string) => connection.run({ sql, parameters: [], want: 'rows' }) as T[]
  const parts = select<{ type: string; name: string; sql: string }>(
    'select type, name, sql from sqlite_schema where sql is not null order by rowid',
  )
  const own = parts.filter(({ name }) => !name.startsWith('sqlite_') && !isOwnTable(name))
  const rows = own.flatMap(({ type, name, sql }) => {
    if (type !== 'table' || /^create virtual/i.test(sql)) return []
    const values = select<{ name: string }>(`select name from pragma_table_info('${name}')`).map(
      (column) => `quote("${column.name}")`,
    )
    return select<{ sql: string }>(
      `select 'insert into "${name}" values (' || ${values.join(" || ',' || ")} || ')' as sql from "${name}"`,
    )
  })
  // Only ANALYZE makes the table of its statistics.
  const analyzed = parts.some(({ name }) => name === 'sqlite_stat1')
    ? ['analyze setting', 'delete from sqlite_stat1']
    : []
  return [...own.map(({ sql }) => sql), ...rows.map(({ sql }) => sql), ...analyzed]
}
