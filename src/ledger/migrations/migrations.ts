// The list of migrations; the version of a ledger is the number of those applied to it.
import type { ColumnDefinitionBuilder } from 'kysely'
import { sql } from 'kysely'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import type { Dialect } from '../statement.ts'
import { firstLedger } from './0001-first-ledger.ts'
import { ownersAndPolicies } from './0002-owners-and-policies.ts'
import { conversations } from './0003-conversations.ts'
import { boards } from './0004-boards.ts'
import { memory } from './0005-memory.ts'
import { valuesAndSuspects } from './0006-values-and-suspects.ts'
import { stuckGroups } from './0007-stuck-groups.ts'
import { notifyParent } from './0008-notify-parent.ts'
import { creators } from './0009-creators.ts'
import { rightToRunCommands } from './0010-right-to-run-commands.ts'
import { sources } from './0011-sources.ts'
import { madeBelow } from './0012-made-below.ts'
import { claimableByAssignment } from './0013-claimable-by-assignment.ts'
import { purging } from './0014-purging.ts'
import { indexesByUse } from './0015-indexes-by-use.ts'
import { lostResults } from './0016-lost-results.ts'
import { factIdsByBytes } from './0017-fact-ids-by-bytes.ts'
import type { Migration, Spelling } from './migration.ts'

export const migrations: readonly Migration[] = [
  firstLedger,
  ownersAndPolicies,
  conversations,
  boards,
  memory,
  valuesAndSuspects,
  stuckGroups,
  notifyParent,
  creators,
  rightToRunCommands,
  sources,
  madeBelow,
  claimableByAssignment,
  purging,
  indexesByUse,
  lostResults,
  factIdsByBytes,
]

export const ledgerVersion = migrations.length

/** The oldest version of engines that may work with a ledger of this version: later migrations are additive. */
export const usableFrom = oldestUsable(migrations)

export function oldestUsable(all: ReadonlyArray<Pick<Migration, 'isAdditive'>>): number {
  return all.findLastIndex(({ isAdditive = false }) => !isAdditive) + 1
}

/**
 * @param version the oldest version of engines that may use the ledger
 * @throws ErrandError LEDGER_NEWER
 */
export function requireKnownVersion(version: number, name: string, details: object): void {
  if (version <= ledgerVersion) return
  const message = `The ledger ${name} has version ${version}; this version of errand supports ledgers up to version ${ledgerVersion}. Update errand.`
  throw new ErrandError('LEDGER_NEWER', message, { ...details, version, known: ledgerVersion })
}

/** Marks a SQLite file as a ledger: "ERND" in its header. */
export const applicationId = 0x45524e44
/** Marks a SQLite file as a copy of a ledger that is not complete. */
export const unfinishedCopyId = applicationId + 1

/** The refusal to open a copy that is not complete. */
export function unfinishedCopy(ledger: string): ErrandError {
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `${ledger} is an unfinished copy of a ledger. "errand ledger copy" with the same arguments completes it.`,
    { ledger },
  )
}

function spellingOf({ kind, db }: Dialect): Spelling {
  return {
    kind,
    db,
    integer: kind === 'sqlite' ? 'integer' : 'bigint',
    real: kind === 'sqlite' ? 'real' : 'double precision',
    risingType: kind === 'sqlite' ? 'integer' : 'bigserial',
    orderedText: kind === 'sqlite' ? 'text' : sql`text collate "C"`,
    rising: (column: ColumnDefinitionBuilder) =>
      kind === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
    strict: (table) => (kind === 'sqlite' ? table.modifyEnd(sql`strict`) : table),
    keyOnly: (table) => (kind === 'sqlite' ? table.modifyEnd(sql`strict, without rowid`) : table),
  }
}

const compiled = new Map<Dialect, Array<() => string[]>>()

/** The SQL texts that bring a ledger of one version to another, in order. Each migration is compiled once for all ledgers of a process. */
export function migrationTexts(dialect: Dialect, fromVersion: number, toVersion = ledgerVersion): string[] {
  let texts = compiled.get(dialect)
  if (texts === undefined) {
    const spelling = spellingOf(dialect)
    texts = migrations.map((migration) =>
      once(() => migration.statements(spelling).map((statement) => statement.compile().sql)),
    )
    compiled.set(dialect, texts)
  }
  // A file may claim a negative version: `slice` would count it from the end.
  return texts.slice(fromVersion, Math.max(fromVersion, toVersion)).flatMap((each) => each())
}
