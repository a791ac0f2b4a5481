// What the migrations make: the version of a ledger, which engines may use it, and the statements that bring it there.
import { type Compilable, type CreateIndexBuilder, sql } from 'kysely'
import { ErrandError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Dialect } from '../statement.ts'
import { migrations } from './list.ts'
import type { Migration, Spelling } from './migration.ts'

export const ledgerVersion = migrations.length

/** The oldest version of engines that may work with a ledger of this version: later migrations are additive. */
export const usableFrom = oldestUsable(migrations)

export function oldestUsable(all: ReadonlyArray<Pick<Migration, 'isAdditive'>>): number {
  return all.findLastIndex(({ isAdditive = false }) => !isAdditive) + 1
}

/**
 * @param version the oldest version of engines that may use the ledger
 * @throws ErrandError LEDGER_VERSION
 */
export function requireKnownVersion(version: number, name: string, details: object): void {
  if (version <= ledgerVersion) return
  const message = `The ledger ${name} has version ${version}, and this errand supports versions up to ${ledgerVersion}: a newer or a development version made or migrated it. Use that version, or begin with a new ledger.`
  throw new ErrandError('LEDGER_VERSION', message, { ...details, version, known: ledgerVersion })
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
  const { schema } = db
  const made = (name: string, inSqlite: string) =>
    kind === 'sqlite' ? schema.createTable(name).modifyEnd(sql.raw(inSqlite)) : schema.createTable(name)
  const table = (name: string) => made(name, 'strict')
  return {
    kind,
    db,
    integer: kind === 'sqlite' ? 'integer' : 'bigint',
    real: kind === 'sqlite' ? 'real' : 'double precision',
    orderedText: kind === 'sqlite' ? 'text' : sql`text collate "C"`,
    table,
    numbered: (name) =>
      kind === 'sqlite'
        ? table(name).addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
        : table(name).addColumn('seq', 'bigserial', (column) => column.primaryKey()),
    keyTable: (name) => made(name, 'strict, without rowid'),
    index: (name, ...of) => indexOn(schema.createIndex(name), ...of),
    uniqueIndex: (name, ...of) => indexOn(schema.createIndex(name).unique(), ...of),
  }
}

function indexOn(index: CreateIndexBuilder, table: string, columns: string, condition?: string): Compilable {
  const all = index.on(table).expression(sql.raw(columns))
  return condition === undefined ? all : all.where(sql.raw<boolean>(condition))
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

/** Differs between schemas of one version: before the first release the schema is edited in place. */
export function definitionDigest(dialect: Dialect, version: number): string {
  return sha256(migrationTexts(dialect, 0, version).join(';\n'))
}
