// The statements that bring a SQLite ledger from one version to another. The migrations alter their tables again and again, so that to compile
// and run all of them takes ten times as long as to create the tables that they leave in the end: a new ledger gets these.
import { ledgerVersion, migrationTexts } from '../../migrations/migrations.ts'
import { currentSchema } from './current-schema.ts'
import { sqliteDialect } from './dialect.ts'

export function schemaTexts(fromVersion: number, toVersion = ledgerVersion): readonly string[] {
  if (fromVersion === 0 && toVersion === ledgerVersion) return currentSchema
  return migrationTexts(sqliteDialect, fromVersion, toVersion)
}
