// A ledger file's schema is what the migrations made, and nothing else. A trigger, a view or a changed table that somebody has put
// into the file would rewrite what the engine stores, or what it reads, without a word in the ledger.
import { ErrandError } from '../../../core/errors.ts'
import { ledgerVersion, migrationTexts } from '../../migrations/migrations.ts'
import { type Connection, connect } from './connection.ts'
import { sqliteDialect } from './dialect.ts'

/** How the parts of a schema are called for people, with the texts that made each: `trigger "t"` → `create trigger …`. */
type Parts = Map<string, string>

/** Compiled and run once for all ledgers of a process. */
const madeByMigrations = new Map<number, Parts>()

/**
 * Version and schema are read in one snapshot: another process may be migrating the file.
 * @throws ErrandError LEDGER_FOREIGN { path, differs } with the names of what was added, changed or taken away.
 */
export function requireOwnSchema(connection: Connection, path: string): void {
  connection.execute('begin')
  let found: Parts
  let version: number
  try {
    version = Number(connection.pragma('user_version'))
    found = partsOf(connection)
  } finally {
    if (connection.inTransaction) connection.execute('rollback')
  }
  // Made, but not migrated yet; a newer version is refused when it is migrated.
  if (found.size === 0 || version > ledgerVersion) return
  const expected = expectedParts(version)
  const differs = [
    ...[...found].filter(([name, text]) => expected.get(name) !== text).map(([name]) => name),
    ...[...expected.keys()].filter((name) => !found.has(name)),
  ]
  if (differs.length === 0) return
  throw new ErrandError(
    'LEDGER_FOREIGN',
    `The schema of ${path} is not what errand makes in version ${version}: ${differs.slice(0, 10).join(', ')} ${differs.length === 1 ? 'was' : 'were'} added, changed or removed by something else. Restore a backup, or undo that with sqlite3 if you know where it comes from.`,
    { path, version, differs },
  )
}

function expectedParts(version: number): Parts {
  let parts = madeByMigrations.get(version)
  if (parts === undefined) {
    const connection = connect(':memory:', { busyTimeoutMs: 0 })
    try {
      for (const text of migrationTexts(sqliteDialect, 0, version)) connection.execute(text)
      parts = partsOf(connection)
    } finally {
      connection.close()
    }
    madeByMigrations.set(version, parts)
  }
  return parts
}

function partsOf(connection: Connection): Parts {
  const rows = connection.run({
    // What ANALYZE counts is no part of what was made.
    sql: `select type, name, tbl_name as tableName, sql from sqlite_schema
      where not (type = 'table' and name in ('sqlite_stat1', 'sqlite_stat4')) order by name, type`,
    parameters: [],
    want: 'rows',
  }) as Array<{ type: string; name: string; tableName: string; sql: string | null }>
  const parts: Parts = new Map()
  for (const { type, name, tableName, sql } of rows) {
    const part = `${type} "${name}"`
    const text = type === 'table' && ownTables.test(name) ? '' : plain(sql)
    // A file that was written by hand may name two alike.
    parts.set(part, `${parts.get(part) ?? ''} ${tableName} ${text}`)
  }
  return parts
}

/** What full-text search makes for itself, in words that are SQLite's. */
const ownTables = /^fact_text_[a-z]+$/

/** SQLite quotes names anew when it alters a table, and not every version does so alike. */
function plain(sql: string | null): string {
  return (sql ?? '').replaceAll('"', '').replace(/\s+/g, ' ').trim()
}
