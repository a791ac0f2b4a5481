// What a migration is: a list of statements for a dialect; the same list for both databases.
import {
  type ColumnDefinitionBuilder,
  type Compilable,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
  sql,
} from 'kysely'
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
  /** Strict on SQLite, which otherwise stores a value of another type than that of its column. PostgreSQL always refuses it. */
  table(name: string): CreateTableBuilder<any, any>
  /** A table with the key `seq`, which rises and is never reused. */
  numbered(name: string): CreateTableBuilder<any, any>
  /** A table whose columns are its primary key: SQLite stores it once, as that index. Strict too. */
  keyTable(name: string): CreateTableBuilder<any, any>
  /** Columns, their order and conditions as SQL writes them. Without a condition all rows are in the index. */
  index(name: string, table: string, columns: string, condition?: string): Compilable
  uniqueIndex(name: string, table: string, columns: string, condition?: string): Compilable
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

export const required = (column: ColumnDefinitionBuilder) => column.notNull()
/** Required, with a condition as SQL writes it. */
export const checked = (condition: string) => (column: ColumnDefinitionBuilder) =>
  column.notNull().check(sql.raw(condition))

/** A statement that the schema builder cannot express. */
export function raw(db: Spelling['db'], text: string): Compilable {
  return { compile: () => sql.raw(text).compile(db) } as Compilable
}

/** What no writer may do, through any connection. */
export interface Guard {
  readonly name: string
  readonly table: string
  /** `update`, `update of COLUMNS` or `delete`. */
  readonly on: string
  /** The condition, in terms of `old` and `new`. Default: always. */
  readonly when?: string
  readonly message: string
}

/** A trigger that refuses what a guard forbids. */
export function guardTrigger({ kind, db }: Spelling, { name, table, on, when, message }: Guard): Compilable[] {
  const condition = when === undefined ? '' : ` when (${when})`
  const texts =
    kind === 'sqlite'
      ? [`create trigger ${name} before ${on} on "${table}"${condition} begin select raise(abort, '${message}'); end`]
      : [
          `create function ${name}() returns trigger language plpgsql as $$ begin raise exception '${message}'; end $$`,
          `create trigger ${name} before ${on} on "${table}" for each row${condition} execute function ${name}()`,
        ]
  return texts.map((text) => raw(db, text))
}
