// The statements that bring a SQLite ledger to the current version. To compile and run all migrations takes ten times as long as to create the
// tables that they leave in the end, so a new ledger is created from the written schema.
import { migrationTexts } from '../migrations/migrations.ts'
import { currentSchema, schemaVersion } from './current-schema.ts'
import { sqliteDialect } from './dialect.ts'

/** The statements that bring a ledger from a version to the current one, in order. */
export function schemaTexts(fromVersion: number): readonly string[] {
  if (fromVersion !== 0) return migrationTexts(sqliteDialect, fromVersion)
  return [...currentSchema, ...migrationTexts(sqliteDialect, schemaVersion)]
}
