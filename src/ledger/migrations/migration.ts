// What a migration is: a list of statements for a dialect. Numbered, static, append-only; the same list for both databases.
import type { Compilable, Kysely, RawBuilder } from 'kysely'
import type { Dialect } from '../statement.ts'

/** How each database spells a column. */
export interface Spelling {
  readonly kind: Dialect['kind']
  readonly db: Kysely<any>
  /** A 64-bit whole number. */
  readonly integer: 'integer' | 'bigint'
  /** A 64-bit floating-point number. */
  readonly real: 'real' | 'double precision'
  /** Text in the order of its bytes in any locale, for searches by its beginning. */
  readonly orderedText: 'text' | RawBuilder<unknown>
  /** SQLite's STRICT tables refuse a value of another type, as PostgreSQL always does. */
  strict<T extends { modifyEnd: (end: any) => T }>(table: T): T
  /** A table whose columns are its primary key: SQLite stores it once, as that index. STRICT too. */
  keyOnly<T extends { modifyEnd: (end: any) => T }>(table: T): T
  /** A rising key that is never reused. */
  rising(column: any): any
  readonly risingType: 'integer' | 'bigserial'
}

export interface Migration {
  /** What it does, in a few words; shown when it fails. */
  readonly name: string
  /**
   * Engines that do not know it may go on beside those that do: it only adds tables, indexes, and columns with a default, and no rule for
   * what others write. Default false.
   */
  readonly isAdditive?: boolean
  statements(spelling: Spelling): Compilable[]
}
