// Migrates a PostgreSQL schema to the current version of the ledger, in one transaction (its DDL can be rolled back) and under an advisory
// lock: of ten processes that open a new database, one migrates and nine find it migrated.
import { ErrandError } from '../../core/errors.ts'
import {
  applicationId,
  definitionDigest,
  ledgerVersion,
  migrationTexts,
  requireKnownVersion,
  unfinishedCopy,
  usableFrom,
} from '../migrations/migrations.ts'
import type { PostgresClient } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { locksOf } from './ledger-locks.ts'

/** Held for the length of a migration; each database has advisory locks of its own. */
const migrationLock = applicationId + 1

/**
 * @param options.createsSchema the schema of the session, which is created if it is missing
 * @throws ErrandError LEDGER_VERSION, LEDGER_FOREIGN; the error of the server when a statement fails
 */
export async function migrate(
  client: PostgresClient,
  name: string,
  options: { createsSchema?: string | undefined } = {},
): Promise<void> {
  if (isCurrent(await storedVersion(client, name))) return
  await client.query('begin')
  try {
    // A migration takes as long as its tables are large, and others wait for it.
    await client.query(`set local lock_timeout = 0`)
    await client.query(`set local statement_timeout = 0`)
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock])
    if (options.createsSchema !== undefined) {
      const quoted = options.createsSchema.replaceAll('"', '""')
      await client.query(`create schema if not exists "${quoted}"`)
    }
    // Engines of the version before pause.
    const [sql, keys] = (await locksOf(client)).gateAlone
    await client.query(sql, keys)
    const version = await foundVersion(client, name)
    if (!isCurrent(version)) {
      for (const text of migrationTexts(postgresDialect, version)) await client.query(text)
      await storeVersion(client)
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** One of a later version stays as it is: the migrations since were additive. */
const isCurrent = (version: number | undefined) => version !== undefined && version >= ledgerVersion

/** From the catalog, whose rows are as new as the statement: `to_regclass` may answer from a cache that is older than the lock. */
export async function tablesFound(client: PostgresClient): Promise<TablesFound> {
  const { rows } = await client.query(`
    select coalesce(bool_or(tablename = 'ledger_version'), false) as ours, coalesce(bool_or(tablename = 'task'), false) as taken,
      coalesce(bool_or(tablename = 'ledger_copy'), false) as copying
    from pg_tables where schemaname = current_schema() and tablename in ('ledger_version', 'task', 'ledger_copy')`)
  return (rows as [TablesFound])[0]
}

interface TablesFound {
  ours: boolean
  taken: boolean
  /** An unfinished copy (server-target.ts). */
  copying: boolean
}

interface StoredVersion {
  version: number
  /** The oldest version of engines that may use the ledger. */
  usable_from: number
  /** Of the schema of its version. Undefined in a ledger of a development version. */
  digest?: string
}

/**
 * Undefined without a ledger. Most opens find a migrated one, and wait for no other.
 * @throws ErrandError LEDGER_VERSION
 */
export async function storedVersion(client: PostgresClient, name: string): Promise<number | undefined> {
  if (!(await tablesFound(client)).ours) return undefined
  // As JSON, because the table of a development version has other columns.
  const { rows } = await client.query('select to_jsonb(ledger_version) as stored from ledger_version')
  const [{ stored }] = rows as [{ stored: StoredVersion }]
  const { version, usable_from, digest } = stored
  requireKnownVersion(digest === undefined ? version : usable_from, name, { name })
  if (version <= ledgerVersion && digest !== definitionDigest(postgresDialect, version))
    throw otherSchema(name, version)
  return version
}

function otherSchema(name: string, version: number): ErrandError {
  return new ErrandError(
    'LEDGER_VERSION',
    `The schema of ${name} is not that of ledger version ${version}: a development version of errand made it. Use that version, or begin with a new ledger.`,
    { name, version },
  )
}

/** Records that the tables are those of the current version. */
export async function storeVersion(client: PostgresClient): Promise<void> {
  await client.query(
    'create table if not exists ledger_version (version bigint not null, usable_from bigint not null, digest text not null)',
  )
  await client.query('delete from ledger_version')
  await client.query('insert into ledger_version (version, usable_from, digest) values ($1, $2, $3)', [
    ledgerVersion,
    usableFrom,
    definitionDigest(postgresDialect, ledgerVersion),
  ])
}

/** The version of the ledger that is there, and 0 if there is none. @throws ErrandError LEDGER_VERSION, LEDGER_FOREIGN, LEDGER_UNAVAILABLE */
async function foundVersion(client: PostgresClient, name: string): Promise<number> {
  const stored = await storedVersion(client, name)
  if (stored !== undefined) return stored
  const found = await tablesFound(client)
  if (found.copying) throw unfinishedCopy(name)
  if (found.taken) throw foreignTables(name)
  return 0
}

export function foreignTables(name: string): ErrandError {
  return new ErrandError(
    'LEDGER_FOREIGN',
    `The schema of ${name} has a table "task" of another program. Use a separate schema for the ledger (search_path).`,
    { name },
  )
}
