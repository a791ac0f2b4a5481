// The columns of a table, stated once: how each field of a record is stored. Statements select columns under the names of the fields, so
// that only flags and JSON need to be converted. The holes of writing statements have these names too, and are filled from the record.
import { type Compilable, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { ErrandError } from '../core/errors.ts'
import { fromJson } from '../core/json.ts'
import { once } from '../core/once.ts'
import { messageOf } from '../core/stored-error.ts'
import { KnownRecord } from './draft.ts'
import type { Op } from './op.ts'
import type { ColumnName, Database, Records, TableName } from './schema.ts'
import {
  byKey,
  type Holes,
  type NarrowedWrites,
  queryRows,
  records,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  write,
} from './statement.ts'
import { standingFor, unreadableText } from './unreadable.ts'

/** Stored as it is: text, a number or NULL. */
export const plain = { kind: 'plain' } as const
/** A number that the database assigns. */
export const serial = { kind: 'serial' } as const
/** 0 or 1. */
export const flag = {
  kind: 'flag',
  read: (stored: unknown) => stored === 1,
  write: (value: unknown) => (value === true ? 1 : 0),
} as const
/** JSON, where nothing is `null`. */
export const json = {
  kind: 'json',
  read: (stored: unknown) => fromJson(stored as string),
  write: (value: unknown) => (value === undefined || value === null ? 'null' : jsonText(value)),
} as const
/** JSON, where nothing is NULL. */
export const jsonOrNull = {
  kind: 'json or null',
  read: (stored: unknown) => (stored === null ? null : fromJson(stored as string)),
  write: (value: unknown) => (value === undefined || value === null ? null : jsonText(value)),
} as const

function jsonText(value: unknown): string {
  return unreadableText(value) ?? JSON.stringify(value)
}

interface Kind {
  readonly kind: string
  readonly read?: (stored: unknown) => unknown
  readonly write?: (value: unknown) => unknown
}

type KindOf<Key, Value> = Key extends 'seq'
  ? typeof serial
  : unknown extends Value
    ? typeof json
    : [Value] extends [boolean]
      ? typeof flag
      : [Value] extends [string | number | null]
        ? typeof plain
        : null extends Value
          ? typeof jsonOrNull
          : typeof json

/** How each field of a record is stored. */
export type Fields<T extends TableName> = {
  readonly [Key in keyof Records[T] & string]-?: KindOf<Key, Records[T][Key]>
}

export interface Table<T extends TableName> {
  readonly name: T
  /** The database numbers its rows. */
  readonly isSerial: boolean
  /** For the list of a SELECT: all columns under the names of the fields, with a prefix where several tables meet. */
  columns(alias?: string, prefix?: string, without?: readonly string[]): RawBuilder<unknown>
  /** Selects the rows as records; with `having`, those with these values. An undefined value excludes none. */
  from(db: Kysely<Database>, having?: Partial<Records[T]>): SelectQueryBuilder<Database, T, Records[T]>
  /** A hole for the column of each of these fields, filled from a record; without fields: for all that an INSERT writes. */
  holes<F extends object = Omit<Fields<T>, 'seq'>>(
    hole: Holes,
    fields?: F,
  ): { [Key in keyof F & string as ColumnName<Key>]: ReturnType<Holes> }
  /** Turns the row into the record; a row without some columns into a part of it. */
  read(found: Records[T]): Records[T]
  /** The record in a row of several tables. */
  pick(found: object, prefix?: string): Records[T]
  /** The columns that hold JSON. */
  readonly jsonColumns: readonly string[]
  /** The record in a row by columns; of a row without some of them, a part of it. */
  fromStored(stored: Readonly<Record<string, unknown>>): Records[T]
  /** The first row that a statement finds. */
  one(statement: Statement, values: object): Op<Records[T] | undefined>
  /** All rows that a statement finds. */
  list(statement: Statement, values?: object): Op<Array<Records[T]>>
  /** All rows of a query that was built for a single use. */
  query(query: Compilable<Records[T]>): Op<Array<Records[T]>>
}

/** The replacements, by field, of a JSON text that cannot be read or whose value is of another type. */
export type StandIns = Readonly<Record<string, StandIn>>

interface StandIn {
  /** Whether a value has the type of the field; `row` is the record with its plain fields. */
  fits(value: unknown, row: Readonly<Record<string, unknown>>): boolean
  /** Undefined where there is no replacement: the row is refused then. */
  of(text: string, row: Readonly<Record<string, unknown>>): object | undefined
}

/** A field without a replacement whose text cannot be read makes the row refused with LEDGER_CORRUPT. */
export function defineTable<T extends TableName>(name: T, fields: Fields<T>, standIns: StandIns = {}): Table<T> {
  const all = Object.entries<Kind>(fields).map(([field, kind]) => ({ field, ...kind }))
  const turned = all.flatMap(({ field, read }) => (read === undefined ? [] : [{ field, read }]))
  const written = Object.fromEntries(all.filter(({ kind }) => kind !== 'serial').map((each) => [each.field, each]))

  function columns(alias: string = name, prefix = '', without: readonly string[] = []): RawBuilder<unknown> {
    const chosen = all.filter(({ field }) => !without.includes(field))
    return sql.raw(chosen.map(({ field }) => `"${alias}"."${columnOf(field)}" as "${prefix}${field}"`).join(', '))
  }
  const own = columns()

  function read(found: Records[T]): Records[T] {
    const row = found as unknown as Record<string, unknown>
    for (const { field, read: turn } of turned) {
      const stored = row[field] as string | number | null | undefined
      if (stored === undefined) continue
      const standIn = standIns[field]
      let fault: unknown
      try {
        row[field] = turn(stored)
        if (standIn?.fits(row[field], row) !== false) continue
      } catch (error) {
        fault = error
      }
      const text = String(stored)
      const value = standIn?.of(text, row)
      if (value === undefined) throw unreadableRow(name, field, row, fault)
      row[field] = standingFor(text, value)
    }
    return found
  }

  function* recordsOf(found: Op<Array<Records[T]>>): Op<Array<Records[T]>> {
    return (yield* found).map(read)
  }

  return {
    name,
    isSerial: 'seq' in fields,
    columns,
    from(db, having = {}) {
      let query = db.selectFrom(name as 'task').select(own as never)
      for (const [field, value] of Object.entries(having)) {
        const stored = written[field]?.write?.(value) ?? value
        if (value !== undefined) query = query.where(columnOf(field) as 'id', '=', stored as string)
      }
      return query as never
    },
    holes: (hole, wanted) =>
      Object.fromEntries(
        Object.keys(wanted ?? written).map((field) => [columnOf(field), hole(field, written[field]?.write)]),
      ) as never,
    read,
    pick(found, prefix = '') {
      const row = found as Record<string, unknown>
      const record: Record<string, unknown> = {}
      for (const { field } of all) record[field] = row[prefix + field]
      return read(record as never)
    },
    *one(statement, values) {
      const found = yield* row<Records[T] | KnownRecord>(statement, values)
      return found instanceof KnownRecord ? (found.record as never) : found && read(found)
    },
    jsonColumns: all.filter(({ kind }) => kind.startsWith('json')).map(({ field }) => columnOf(field)),
    fromStored: (stored) => read(byField(all, stored) as never),
    list: (statement, values = {}) =>
      recordsOf('id' in fields ? records<Records[T]>(name, statement, values) : rows<Records[T]>(statement, values)),
    query: (query) => recordsOf(queryRows<Records[T]>(query.compile())),
  }
}

function byField(fields: ReadonlyArray<{ field: string }>, stored: Readonly<Record<string, unknown>>): object {
  const record: Record<string, unknown> = {}
  for (const { field } of fields) if (columnOf(field) in stored) record[field] = stored[columnOf(field)]
  return record
}

/** The statements of a table that follow from its columns. `shown`: a condition on all rows that are found. */
export function statementsOf<T extends TableName>(
  { prepare, dialect }: StatementCompiler,
  table: Table<T>,
  { shown }: { shown?: RawBuilder<boolean> } = {},
) {
  type Key = keyof Fields<T> & string
  const from = (db: Kysely<Database>): ReturnType<Table<T>['from']> =>
    shown === undefined ? table.from(db) : (table.from(db).where(shown) as ReturnType<Table<T>['from']>)
  const insertion = (more: (hole: Holes) => object = () => ({})): Statement =>
    prepare((db, hole) => {
      const query = db.insertInto(table.name as 'task').values({ ...table.holes(hole), ...more(hole) } as never)
      // A table with a rising key returns the key of a new row: SQLite by itself, PostgreSQL on request.
      return table.isSerial && dialect.kind === 'postgres' ? query.returning('seq') : query
    })
  return {
    /** Selects records: `select((task, hole) => task.where('id', '=', hole('id')))`. */
    select: (build: (rows: ReturnType<Table<T>['from']>, hole: Holes) => Compilable): Statement =>
      prepare((db, hole) => build(from(db), hole)),
    /** Selects the record that has these keys. */
    selectRow(...keys: Key[]): Statement {
      const statement = prepare((db, hole) => {
        const query = from(db) as ReturnType<Table<'task'>['from']>
        return keys.reduce((narrowed, key) => narrowed.where(columnOf(key) as 'id', '=', hole(key)), query)
      })
      return byKey(statement, table.name, keys)
    },
    /** The verb that finds the one record with a value. */
    finds(field: Key): (value: unknown) => Op<Records[T] | undefined> {
      const statement = prepare((db, hole) => {
        const query = from(db) as ReturnType<Table<'task'>['from']>
        return query.where(columnOf(field) as 'id', '=', hole(field))
      })
      return (value) => table.one(statement, { [field]: value })
    },
    /** Inserts a record. `more`: columns that a record does not have. */
    insert: insertion,
    /** The verb that inserts a record; with keys, one that can be read by them. */
    inserts(...keys: Key[]): (record: object) => Op<void> {
      const unkeyed = insertion()
      const keyed = byKey(unkeyed, table.name, keys)
      const statement = keys.length === 0 ? unkeyed : once(() => ({ ...keyed(), wantsSeq: table.isSerial }))
      return (record) => write(statement, record)
    },
    /** Inserts a record, or writes these fields of it to the row that has the same keys. */
    upsert(keys: Key[], fields: Key[]): Statement {
      const excluded = Object.fromEntries(fields.map(columnOf).map((column) => [column, sql.ref(`excluded.${column}`)]))
      return prepare((db, hole) =>
        db
          .insertInto(table.name as 'task')
          .values(table.holes(hole) as never)
          .onConflict((conflict) => conflict.columns(keys.map(columnOf) as never).doUpdateSet(excluded as never)),
      )
    },
    /** The verb that writes these fields of a record to the row that has the same keys; `counted`: as a new version of it. */
    saves(fields: Partial<Fields<T>>, keys: Key[], { counted = false } = {}): (record: object) => Op<void> {
      const writeOf = (written: Partial<Fields<T>>): Statement => {
        const statement = prepare((db, hole) => {
          const version = counted ? { version: sql`version + 1` } : {}
          const query = db.updateTable(table.name as 'task').set({ ...table.holes(hole, written), ...version } as never)
          return keys.reduce((narrowed, key) => narrowed.where(columnOf(key) as 'id', '=', hole(key)), query)
        })
        return byKey(statement, table.name, keys, counted)
      }
      const whole = writeOf(fields)
      const statement = once(() => ({ ...whole(), narrowed: narrowedWrites(fields, writeOf) }))
      return (record) => write(statement, record)
    },
  }
}

/** The writes of some of these fields, each compiled at its first use. */
function narrowedWrites<F extends object>(fields: F, writeOf: (fields: F) => Statement): NarrowedWrites {
  const forms = new Map<string, Statement>()
  return {
    fields: Object.keys(fields),
    of(names) {
      const key = names.join()
      const form =
        forms.get(key) ?? writeOf(Object.fromEntries(names.map((name) => [name, fields[name as keyof F]])) as F)
      forms.set(key, form)
      return form()
    },
  }
}

function unreadableRow(table: string, field: string, row: Record<string, unknown>, cause: unknown): ErrandError {
  const keys = ['id', 'seq', 'taskId', 'number', 'n', 'name', 'board'].filter((key) => typeof row[key] !== 'object')
  const named = Object.fromEntries(keys.flatMap((key) => (row[key] === undefined ? [] : [[key, row[key]]])))
  return new ErrandError(
    'LEDGER_CORRUPT',
    `A row of the ledger cannot be read: column ${columnOf(field)} of ${table} ${JSON.stringify(named)} is not JSON (${messageOf(cause)}). Another program has written it: correct it with sqlite3, or restore a backup.`,
    { table, column: columnOf(field), ...named },
    cause,
  )
}

function columnOf(field: string): string {
  return field === 'group' ? 'is_group' : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
