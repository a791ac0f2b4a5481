// One state of a whole ledger, for tools that read all of it: copies and checks. It needs no engine and changes nothing. Steps go on
// meanwhile, but the database cannot reuse the room of old rows before the snapshot is closed.
import { ErrandError } from '../core/errors.ts'
import type { Op } from './ledger.ts'
import { ledgerVersion } from './migrations/migrations.ts'
import type { Dialect } from './statement.ts'

/** A row as it is stored, by column. The values of equal rows are equal on both databases. */
export type StoredRow = Readonly<Record<string, string | number | null>>

/** A table as it is stored. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns of its primary key, in order. */
  readonly key: readonly string[]
  /** Those of the key that are texts. */
  readonly textKey: ReadonlySet<string>
  /** The database numbers its rows, and never uses a number again. */
  readonly isNumbered: boolean
}

export interface LedgerSnapshot {
  /** A path, or a URL without its password. */
  readonly name: string
  readonly dialect: Dialect
  /** When the snapshot was made, by the clock that the leases of the ledger follow. */
  readonly at: number
  /** Runs reads in the snapshot. */
  run<R>(op: Op<R>): Promise<R>
  /** All rows of a table by their keys, texts in the order of their bytes. One table at a time. */
  batches(table: TableShape): AsyncGenerator<StoredRow[]>
  /** The highest number that each numbered table has assigned; a table that has assigned none may be missing. */
  lastNumbers(): Promise<ReadonlyMap<string, number>>
  /** What the database finds wrong with its own storage, at most so many sentences. A server keeps its own rules: it finds nothing. */
  damages(limit: number): Promise<string[]>
  close(): Promise<void>
}

/** The maximum of rows in a batch of a snapshot; one of long rows has fewer. */
export const batchRows = 1_000

/** The bytes of the texts in a row, about. */
export function lengthOf(row: StoredRow): number {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}

/** @throws ErrandError LEDGER_VERSION */
export function requireCurrentVersion(version: number, ledger: string): void {
  if (version === ledgerVersion) return
  throw new ErrandError(
    'LEDGER_VERSION',
    `The ledger ${ledger} has version ${version}, and this errand reads version ${ledgerVersion}. Let an engine of this version open it, which migrates it (for example "errand ps --ledger ${ledger}"), or use the errand of its engines.`,
    { ledger, version, expected: ledgerVersion },
  )
}
