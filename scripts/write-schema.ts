// Writes src/ledger/sqlite/current-schema.ts: what the migrations make of an empty database. To be run after a migration was added.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerVersion, migrationTexts } from '../src/ledger/migrations/migrations.ts'
import { type Connection, connect } from '../src/ledger/sqlite/connection.ts'
import { sqliteDialect } from '../src/ledger/sqlite/dialect.ts'
import { isOwnTable, schemaDigest } from '../src/ledger/sqlite/own-schema.ts'

const root = join(import.meta.dirname, '..')

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

const connection = connect(':memory:', { busyTimeoutMs: 0 })
for (const text of migrationTexts(sqliteDialect, 0)) connection.execute(text)
const file = join(root, 'src/ledger/sqlite/current-schema.ts')
writeFileSync(
  file,
  `// The schema that the migrations make, written by "npm run schema" after each new one. A test compares it with them.

/** The number of the migrations that make it. */
export const schemaVersion = ${ledgerVersion}

/** The statements that make it in an empty database, with the rows that the migrations add. */
export const currentSchema: readonly string[] = ${JSON.stringify(textsOf(connection))}

/** The digest by which a ledger file with this schema is recognized. */
export const currentSchemaDigest = '${schemaDigest(connection)}'
`,
)
connection.close()
execFileSync(join(root, 'node_modules/.bin/biome'), ['check', '--write', file], { stdio: 'inherit' })
