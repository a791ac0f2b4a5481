// The list of migrations; the version of a ledger is the number of those applied to it.
import { firstSchema } from './0001-first-schema.ts'
import type { Migration } from './migration.ts'

export const migrations: readonly Migration[] = [firstSchema]
