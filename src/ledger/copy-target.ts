// What a copy writes to: an unfinished ledger, which no engine opens before all of it is there.
import type { Op } from './ledger.ts'
import type { LedgerSnapshot, StoredRow, TableShape } from './snapshot.ts'
import type { Dialect } from './statement.ts'

export interface CopyTarget {
  /** A path, or a URL without its password. */
  readonly name: string
  readonly dialect: Dialect
  /** It contains rows of an earlier, unfinished copy. */
  readonly isContinued: boolean
  /** What is stored in it now. Later writes do not change the snapshot. */
  snapshot(): Promise<LedgerSnapshot>
  /** Removes the rows with these keys, then inserts or replaces the others; in one transaction. */
  write(table: TableShape, change: RowChange): Promise<void>
  /** Empties the text index of facts, which is different on each database and no part of a copy. */
  clearTextIndex(): Promise<void>
  /** Runs writes in one transaction. */
  run(op: Op<unknown>): Promise<void>
  /**
   * Makes it a ledger under its name: with all constraints, and with tables that go on numbering after the last numbers of the original.
   * Resolves to the new name of the ledger that it replaces, if there is one.
   * @throws ErrandError LEDGER_CORRUPT when its rows violate a constraint; LEDGER_EXISTS when the name was taken meanwhile
   */
  finish(lastNumbers: ReadonlyMap<string, number>): Promise<string | undefined>
  /** Keeps an unfinished copy, which the next one continues. */
  close(): Promise<void>
}

export interface RowChange {
  readonly remove: readonly StoredRow[]
  readonly put: readonly StoredRow[]
}

/** The columns of the key, and the others. */
export function quotedColumns({ columns, key }: TableShape): { all: string; key: string; updates: string } {
  const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
  const others = columns.filter((name) => !key.includes(name))
  const updates = others.map((name) => `"${name}" = excluded."${name}"`).join(', ')
  return { all: quoted(columns), key: quoted(key), updates: updates === '' ? 'do nothing' : `do update set ${updates}` }
}
