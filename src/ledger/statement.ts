// Statements: built and compiled once with Kysely, when they are first used, and run many times with other values. Kysely is only the
// builder here; its SQLite driver prepares every query again and would make a task eight times as expensive.
import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { once } from '../core/once.ts'
import { type Concern, concernOf, type Named, type Whose, type Written, writtenBy } from './concern.ts'
import type { NewEvent, Op, Page } from './ledger.ts'
import { isSeveral } from './op.ts'
import { fitting } from './page-bytes.ts'
import type { Database } from './schema.ts'

/** What a reply should be: rows, the number of changed rows, or the seq of the inserted row. */
export type Want = 'rows' | 'changes' | 'seq'

/** What an Op yields: one statement, or several that read and do not depend on each other. */
export type Asked = Request | readonly Request[]

/** One statement with its values. */
export interface Request {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly want: Want
  readonly statement?: CompiledStatement
  /** Of a query that was built for one use: what it concerns. */
  readonly concerns?: Whose
  /** The table whose rows it reads as whole records with an id. */
  readonly records?: string
  /** Of a deferred write: the values of its holes, before they are converted to what is stored. */
  readonly values?: object
  /** A write whose reply is not used: it may be run later. */
  readonly deferred?: true
  /** The event that this statement appends, or 'unseen' when a set statement appends events that only the table holds. */
  readonly appends?: NewEvent | 'unseen'
  /** One of possibly as many as there are tasks: before it, a read that has taken long gives way to other work. */
  readonly slice?: true
}

/** What a value is: how it is stored, and what it names of what the statement concerns. */
export interface HoleKind {
  readonly write?: (value: unknown) => unknown
  readonly of?: Named
}

/** A hole in a compiled statement, filled by name at each run. */
class Hole {
  readonly name: string
  readonly kind: HoleKind
  constructor(name: string, kind: HoleKind = {}) {
    this.name = name
    this.kind = kind
  }
}

export type Holes = (name: string, kind?: HoleKind) => any

/** How a statement is built, behind what it says of itself. */
export type Stating<Stated, Build> = [build: Build] | [stated: Stated | undefined, build: Build]

/** A prepared statement. It is compiled by its first call: of the statements of all tables, most processes use few. */
export type Statement = () => CompiledStatement

export interface CompiledStatement extends Written {
  readonly sql: string
  readonly values: readonly unknown[]
  /** The names of its holes, each at the position of its value. */
  readonly names: ReadonlyArray<string | undefined>
  readonly concern: Concern
  /** It inserts a row that the database numbers. */
  readonly wantsSeq?: boolean
  /** It reads or writes the one row that has these keys. */
  readonly byKey?: ByKey
  /** The same write of fewer fields. */
  readonly narrowed?: NarrowedWrites
}

/** A write of several fields of a row, and the same write of some of them: a column that is not written costs no index. */
export interface NarrowedWrites {
  readonly fields: readonly string[]
  /** Compiled at its first use. */
  of(fields: readonly string[]): CompiledStatement
}

export interface ByKey {
  readonly table: string
  /** The names of the keys, in one text. */
  readonly keys: string
  /** The positions of their values among those of the statement. */
  readonly places: readonly number[]
  /** The row gets a new version. */
  readonly counted: boolean
}

/** Marks a statement that reads or writes the one row with these keys. */
export function byKey(prepared: Statement, table: string, keys: readonly string[], counted = false): Statement {
  return once(() => {
    const statement = prepared()
    const places = keys.map((key) => statement.names.indexOf(key))
    return { ...statement, byKey: { table, keys: keys.join(), places, counted } }
  })
}

/** The differences of the two databases, in one place. */
export interface Dialect {
  readonly kind: 'sqlite' | 'postgres'
  /** Compiles only; never connected. */
  readonly db: Kysely<Database>
}

export interface StatementCompiler {
  readonly dialect: Dialect
  /**
   * Compiles a query with holes: `(db, hole) => db.selectFrom('task')…where('id', '=', hole('id', ofTask))`, behind what it concerns if the
   * kinds of its holes do not say that.
   */
  prepare(...given: Stating<Whose, (db: Kysely<Database>, hole: Holes) => Compilable>): Statement
  /** Prepares a statement written as text, which the builder cannot express: one that writes says which table. Values are holes here too. */
  prepareText(...given: Stating<Whose | Written, (hole: Holes) => RawBuilder<unknown>>): Statement
}

export function createCompiler(dialect: Dialect): StatementCompiler {
  const holes: Holes = (name, kind) => new Hole(name, kind)
  const statementOf = (
    { sql: text, parameters, query }: CompiledQuery,
    stated?: Whose | Written,
  ): CompiledStatement => ({
    sql: text,
    values: parameters,
    names: parameters.map((value) => (value instanceof Hole ? value.name : undefined)),
    concern: concernOf(
      parameters.map((value) => (value instanceof Hole ? value.kind.of : undefined)),
      typeof stated === 'string' ? stated : undefined,
    ),
    ...(typeof stated === 'object' ? stated : writtenBy(query)),
  })
  return {
    dialect,
    prepare: (...given) => once(() => statementOf(last(given)(dialect.db, holes).compile(), statedIn(given))),
    prepareText: (...given) => once(() => statementOf(last(given)(holes).compile(dialect.db), statedIn(given))),
  }
}

const last = <Stated, Build>(given: Stating<Stated, Build>): Build => given[given.length - 1] as Build
const statedIn = <Stated, Build>(given: Stating<Stated, Build>): Stated | undefined =>
  given.length === 2 ? given[0] : undefined

function fill(statement: CompiledStatement, values: object): unknown[] {
  return statement.values.map((value) => {
    if (!(value instanceof Hole)) return value
    const given = (values as Record<string, unknown>)[value.name]
    return value.kind.write === undefined ? given : value.kind.write(given)
  })
}

function request(prepared: Statement, values: object, want: Want): Request {
  const statement = prepared()
  return { sql: statement.sql, parameters: fill(statement, values), want, statement }
}

/** The same request, as one slice of a read whose length grows with the ledger. */
export function* sliced<R>(op: Op<R>): Op<R> {
  let next = op.next()
  while (!next.done) {
    const asked = next.value as Asked
    next = op.next(yield isSeveral(asked) ? asked.map(asSlice) : asSlice(asked))
  }
  return next.value
}

const asSlice = (request: Request): Request => ({ ...request, slice: true })

/** The reply to what an Op has yielded. */
export function answered(asked: Asked, replyTo: (request: Request) => unknown): unknown {
  return isSeveral(asked) ? asked.map(replyTo) : replyTo(asked)
}

/** All rows of a prepared statement. */
export function* rows<T>(statement: Statement, values: object = {}): Op<T[]> {
  return (yield request(statement, values, 'rows')) as T[]
}

/** All rows of a prepared statement that reads whole records with an id from a table. */
export function* records<T>(table: string, statement: Statement, values: object): Op<T[]> {
  return (yield { ...request(statement, values, 'rows'), records: table } satisfies Request) as T[]
}

/** The first row of a prepared statement. */
export function* row<T>(statement: Statement, values: object = {}): Op<T | undefined> {
  return ((yield request(statement, values, 'rows')) as T[])[0]
}

/** The one column of all rows that a prepared statement selects. */
export function* column<T>(statement: Statement, values: object = {}): Op<T[]> {
  return (yield* rows<Record<string, T>>(statement, values)).map((each) => Object.values(each)[0] as T)
}

/** The one number that a prepared statement selects; 0 for NULL. */
export function* numberOf(statement: Statement, values: object = {}): Op<number> {
  const found = yield* row<Record<string, unknown>>(statement, values)
  return Number(Object.values(found ?? {})[0] ?? 0)
}

/**
 * A page of at most `limit` rows. `sizes` finds the bytes in the long columns of at most `limit` rows, which a database reads without the columns
 * themselves; `list` reads the first rows.
 */
export function* pageOf<T>(
  sizes: Statement,
  values: { limit: number } & Record<string, unknown>,
  list: (limit: number) => Op<T[]>,
): Op<Page<T>> {
  const { limit } = values
  const found = yield* rows<{ bytes: number }>(sizes, { ...values, limit: limit + 1 })
  const fit = fitting(found.slice(0, limit).map(({ bytes }) => Number(bytes)))
  const page = fit === 0 ? [] : yield* list(fit)
  return { rows: page, isLast: page.length === 0 || fit === found.length }
}

/** Runs a writing statement; the number of rows it changed. */
export function* change(statement: Statement, values: object): Op<number> {
  return (yield request(statement, values, 'changes')) as number
}

/** Runs a writing statement, whatever it changes, before anything that may depend on it. */
export function* write(prepared: Statement, values: object): Op<void> {
  const statement = prepared()
  yield {
    sql: statement.sql,
    parameters: fill(statement, values),
    want: statement.wantsSeq ? 'seq' : 'changes',
    statement,
    values,
    deferred: true,
  } satisfies Request
}

/** The same deferred write of some of its fields. */
export function narrowed(write: Request, forms: NarrowedWrites, fields: readonly string[]): Request {
  const statement = forms.of(fields)
  return { ...write, sql: statement.sql, parameters: fill(statement, write.values as object), statement }
}

/** Runs an insert into a table with a rising `seq`; the new seq. */
export function* insertSeq(statement: Statement, values: object): Op<number> {
  return (yield request(statement, values, 'seq')) as number
}

/** Appends an event, in its turn. */
export function* appendEvent(prepared: Statement, event: NewEvent): Op<void> {
  const statement = prepared()
  yield {
    sql: statement.sql,
    parameters: fill(statement, event),
    want: 'seq',
    statement,
    appends: event,
    deferred: true,
  } satisfies Request
}

/** Runs a statement that appends an event for each row it finds; the number of events. */
export function* appendEvents(statement: Statement, values: object): Op<number> {
  return (yield { ...request(statement, values, 'changes'), appends: 'unseen' } satisfies Request) as number
}

/** Rows of a query that was built for this one use. */
export function* queryRows<T>({ sql: text, parameters }: CompiledQuery, concerns: Whose = 'all'): Op<T[]> {
  return (yield { sql: text, parameters, want: 'rows', concerns } satisfies Request) as T[]
}

/**
 * A list of any length as one JSON value, so that the statement is prepared once: a source of rows with a column `value`, to be named in
 * the query.
 */
export function listed(dialect: Dialect, json: unknown): RawBuilder<unknown> {
  return dialect.kind === 'postgres'
    ? sql`(select value from json_array_elements_text((${json})::json) as elements(value))`
    : sql`(select value from json_each(${json}))`
}

/**
 * That a value is in such a list. PostgreSQL joins a subquery in the order that suits the size of the table, and for a small table compares
 * each of its rows with the list. An array has no order of joins: the rows are found by an index.
 */
export function among(dialect: Dialect, json: unknown, type: 'text' | 'bigint' = 'text'): RawBuilder<unknown> {
  const list = listed(dialect, json)
  const values = type === 'text' ? list : sql`(select cast(value as bigint) from ${list} as listed)`
  return dialect.kind === 'postgres' ? sql`= any(array${values})` : sql`in ${values}`
}

/** A piece of SQL with its values. */
export type RawSql = RawBuilder<unknown>

export { sql }
