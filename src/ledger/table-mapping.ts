// The columns of a table, stated once: how each field of a record is stored. Statements select columns under the names of the fields, so
// that only flags and JSON need to be converted. The holes of writing statements have these names too, and are filled from the record.
import { type Compilable, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { fromJson } from '../core/json.ts'
import { once } from '../core/once.ts'
import type { Whose } from './concern.ts'
import { standingFor, unreadableRow, unreadableText } from './damaged-columns.ts'
import type { Op } from './op.ts'
import type { ColumnName, Database, Records, TableName } from './schema.ts'
import {
  byKey,
  type HoleKind,
  type Holes,
  type NarrowedWrites,
  queryRows,
  records,
  row,
  rows,
  type Statement,
  type StatementCompiler,
  type Stating,
  write,
} from './statement.ts'
import { KnownRecord } from './write-buffer.ts'

/** Stored as it is: text, a number or NULL. */
export const plain = { kind: 'plain' } as const
/** The id of a task, to which the rows belong that a statement finds by it. */
export const ofTask = { kind: 'plain', of: 'tasks' } as const
/** The id of a journal entry. */
export const ofCall = { kind: 'plain', of: 'calls' } as const
/** A name that is locked before it is looked for: it may not exist. */
export const ofKey = { kind: 'plain', of: 'keys' } as const
/** The name of a board. */
export const ofBoard = { kind: 'plain', of: 'board' } as const
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

interface Kind extends HoleKind {
  readonly kind: string
  readonly read?: (stored: unknown) => unknown
}

type KindOf<Key, Value> = Key extends 'seq'
  ? typeof serial
  : unknown extends Value
    ? typeof json
    : [Value] extends [boolean]
      ? typeof flag
      : [Value] extends [string | number | null]
        ? typeof plain | typeof ofTask | typeof ofCall | typeof ofKey | typeof ofBoard
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
  holes(
    hole: Holes,
    fields?: readonly string[],
  ): { [Key in keyof Omit<Fields<T>, 'seq'> & string as ColumnName<Key>]: ReturnType<Holes> }
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
  query(query: Compilable<Records[T]>, concerns?: Whose): Op<Array<Records[T]>>
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
      if (value === undefined) throw unreadableRow(name, columnOf(field), row, fault)
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
        (wanted ?? Object.keys(written)).map((field) => [columnOf(field), hole(field, written[field])]),
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
    query: (query, concerns) => recordsOf(queryRows<Records[T]>(query.compile(), concerns)),
  }
}

function byField(fields: ReadonlyArray<{ field: string }>, stored: Readonly<Record<string, unknown>>): object {
  const record: Record<string, unknown> = {}
  for (const { field } of fields) if (columnOf(field) in stored) record[field] = stored[columnOf(field)]
  return record
}

/** The statements of a table that follow from its columns. `reads`: what all reads concern, whatever they are found by. */
export function statementsOf<T extends TableName>(
  { prepare, dialect }: StatementCompiler,
  table: Table<T>,
  { reads }: { reads?: Whose } = {},
) {
  type Key = keyof Fields<T> & string
  type Rows = ReturnType<Table<T>['from']>
  const having = <Q>(query: Q, keys: readonly Key[], hole: Holes): Q =>
    Object.entries(table.holes(hole, keys)).reduce(
      (narrowed, [column, value]) => narrowed.where(column as 'id', '=', value as string),
      query as ReturnType<Table<'task'>['from']>,
    ) as Q
  const selection = (keys: readonly Key[], concerns = reads): Statement =>
    prepare(concerns, (db, hole) => having(table.from(db), keys, hole))
  const insertion = (concerns?: Whose, more: (hole: Holes) => object = () => ({})): Statement =>
    prepare(concerns, (db, hole) => {
      const query = db.insertInto(table.name as 'task').values({ ...table.holes(hole), ...more(hole) } as never)
      // A table with a rising key returns the key of a new row: SQLite by itself, PostgreSQL on request.
      return table.isSerial && dialect.kind === 'postgres' ? query.returning('seq') : query
    })
  return {
    /** Selects records: `select((task, hole) => task.where('id', '=', hole('id', ofTask)))`, behind what this concerns. */
    select(...given: Stating<Whose, (rows: Rows, hole: Holes) => Compilable>): Statement {
      const [concerns, build] = given.length === 2 ? given : [reads, given[0]]
      return prepare(concerns, (db, hole) => build(table.from(db), hole))
    },
    /** Selects the record that has these keys. */
    selectRow: (...keys: Key[]): Statement => byKey(selection(keys), table.name, keys),
    /** The verb that finds the one record with a value. */
    finds(field: Key, concerns?: Whose): (value: unknown) => Op<Records[T] | undefined> {
      const statement = selection([field], concerns)
      return (value) => table.one(statement, { [field]: value })
    },
    /** Inserts a record. `more`: columns that a record does not have. */
    insert: insertion,
    /** The verb that inserts a record; with keys, one that can be read by them. */
    inserts(keys: Key[] = [], concerns?: Whose): (record: object) => Op<void> {
      const unkeyed = insertion(concerns)
      const keyed = byKey(unkeyed, table.name, keys)
      const statement = keys.length === 0 ? unkeyed : once(() => ({ ...keyed(), wantsSeq: table.isSerial }))
      return (record) => write(statement, record)
    },
    /** Inserts a record, or writes these fields of it to the row that has the same keys. */
    upsert(keys: Key[], fields: Key[], concerns?: Whose): Statement {
      const excluded = Object.fromEntries(fields.map(columnOf).map((column) => [column, sql.ref(`excluded.${column}`)]))
      return prepare(concerns, (db, hole) =>
        db
          .insertInto(table.name as 'task')
          .values(table.holes(hole) as never)
          .onConflict((conflict) => conflict.columns(keys.map(columnOf) as never).doUpdateSet(excluded as never)),
      )
    },
    /** The verb that writes these fields of a record to the row that has the same keys; `counted`: as a new version of it. */
    saves(fields: Partial<Fields<T>>, keys: Key[], { counted = false, concerns }: Saving = {}) {
      const writeOf = (written: readonly string[]): Statement => {
        const statement = prepare(concerns, (db, hole) => {
          const version = counted ? { version: sql`version + 1` } : {}
          const query = db.updateTable(table.name as 'task').set({ ...table.holes(hole, written), ...version } as never)
          return having(query, keys, hole)
        })
        return byKey(statement, table.name, keys, counted)
      }
      const whole = writeOf(Object.keys(fields))
      const statement = once(() => ({ ...whole(), narrowed: narrowedWrites(Object.keys(fields), writeOf) }))
      return (record: object): Op<void> => write(statement, record)
    },
  }
}

interface Saving {
  concerns?: Whose
  counted?: boolean
}

/** The writes of some of these fields, each compiled at its first use. */
function narrowedWrites(fields: readonly string[], writeOf: (fields: readonly string[]) => Statement): NarrowedWrites {
  const forms = new Map<string, Statement>()
  return {
    fields,
    of(names) {
      const key = names.join()
      const form = forms.get(key) ?? writeOf(names)
      forms.set(key, form)
      return form()
    },
  }
}

function columnOf(field: string): string {
  return field === 'group' ? 'is_group' : field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
