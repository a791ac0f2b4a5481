// Requires that the schema of a ledger file is what the migrations made, and nothing else. A trigger, a view or a changed table in the file
// could rewrite what the engine stores or reads, without a trace in the ledger.

import { ErrandError } from '../../core/errors.ts'
import { sha256 } from '../../core/sha256.ts'
import { ledgerVersion, migrationTexts } from '../migrations/migrations.ts'
import { type Connection, connect } from './connection.ts'
import { sqliteDialect } from './dialect.ts'

/** Of the schema that all migrations make. After a change of the schema a test names the new one. */
export const currentDigest = '8e98b7c81d8bc4efe945735991afea0924ec8caf60f6c257b8fa856ff2427500'

/** The names of the parts of a schema for people, with the texts that made each: `trigger "t"` → `create trigger …`. */
type Parts = Map<string, string>

/** Compiled and run once for all ledgers of a process. */
const madeByMigrations = new Map<number, Parts>()

/**
 * Reads version and schema in the snapshot of its caller: another process may be migrating the file.
 * @throws ErrandError LEDGER_VERSION { path, differs } with the names of what was added, changed or removed.
 */
export function requireOwnSchema(connection: Connection, path: string): void {
  const version = Number(connection.pragma('user_version'))
  const found = partsOf(connection)
  // Created, but not migrated yet; a newer version is refused with its number.
  if (found.size === 0 || version > ledgerVersion) return
  // Without a comparison, for which the migrations are compiled and run: that takes longer than all the rest of opening a ledger.
  if (version === ledgerVersion && digestOf(found) === currentDigest) return
  const expected = expectedParts(version)
  const differs = [
    ...[...found].filter(([name, text]) => expected.get(name) !== text).map(([name]) => name),
    ...[...expected.keys()].filter((name) => !found.has(name)),
  ]
  if (differs.length === 0) return
  throw new ErrandError(
    'LEDGER_VERSION',
    `The schema of ${path} is not that of ledger version ${version}: ${differs.slice(0, 10).join(', ')} differ. A development version of errand made the ledger, or another program changed it. Use that version, restore a backup, or begin with a new ledger.`,
    { path, version, differs },
  )
}

function digestOf(parts: Parts): string {
  return sha256(JSON.stringify([...parts]))
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

/** The digest of the schema that a connection sees. */
export function schemaDigest(connection: Connection): string {
  return digestOf(partsOf(connection))
}

function partsOf(connection: Connection): Parts {
  const rows = connection.run({
    // The statistics of ANALYZE are not part of the schema.
    sql: `select type, name, tbl_name as tableName, sql from sqlite_schema
      where not (type = 'table' and name in ('sqlite_stat1', 'sqlite_stat4')) order by name, type`,
    parameters: [],
    want: 'rows',
  }) as Array<{ type: string; name: string; tableName: string; sql: string | null }>
  const parts: Parts = new Map()
  for (const { type, name, tableName, sql } of rows) {
    const part = `${type} "${name}"`
    const text = type === 'table' && isOwnTable(name) ? '' : plain(sql)
    // A file that was made by hand may have two parts of one name.
    parts.set(part, `${parts.get(part) ?? ''} ${tableName} ${text}`)
  }
  return parts
}

/** Whether it is a table that full-text search creates for itself, by SQLite's names. */
const isOwnTable = (name: string): boolean => /^fact_text_[a-z]+$/.test(name)

/** SQLite quotes names again when it alters a table, and versions differ in that. */
function plain(sql: string | null): string {
  return (sql ?? '').replaceAll('"', '').replace(/\s+/g, ' ').trim()
}
