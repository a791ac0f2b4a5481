// Migrates a PostgreSQL schema to the current version of the ledger, in one transaction (its DDL can be rolled back) and under an advisory
// lock: of ten processes that open a new database, one migrates and nine find it migrated.
import { ErrandError } from '../../../core/errors.ts'
import { applicationId, ledgerVersion, migrationTexts, requireKnownVersion } from '../../migrations/migrations.ts'
import type { PostgresClient } from './client.ts'
import { postgresDialect } from './dialect.ts'

/** Held for the length of a migration; each database has advisory locks of its own. */
const migrationLock = applicationId + 1

/** @throws ErrandError LEDGER_NEWER, LEDGER_FOREIGN; the error of the server when a statement fails */
export async function migrate(client: PostgresClient, name: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock])
    const version = await versionOf(client, name)
    for (const text of migrationTexts(postgresDialect, version)) await client.query(text)
    if (version === 0) await client.query('create table ledger_version (version bigint not null)')
    await client.query('delete from ledger_version')
    await client.query('insert into ledger_version (version) values ($1)', [ledgerVersion])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

async function versionOf(client: PostgresClient, name: string): Promise<number> {
  const [found] = (
    await client.query(
      `select to_regclass('ledger_version') is not null as ours, to_regclass('task') is not null as taken`,
    )
  ).rows as [{ ours: boolean; taken: boolean }]
  if (!found.ours) {
    if (!found.taken) return 0
    throw new ErrandError(
      'LEDGER_FOREIGN',
      `The schema of ${name} has a table "task" of another program. Use a separate schema for the ledger (search_path).`,
      { name },
    )
  }
  const [stored] = (await client.query('select version from ledger_version')).rows as [{ version: number }]
  requireKnownVersion(Number(stored.version), name, { name })
  return Number(stored.version)
}
