// A snapshot of a ledger file: a read transaction of a connection that writes nothing.
import { existsSync } from 'node:fs'
import { systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import type { Op } from '../ledger.ts'
import { maxPageBytes } from '../page-bytes.ts'
import {
  batchRows,
  type LedgerSnapshot,
  lengthOf,
  requireCurrentVersion,
  type StoredRow,
  type TableShape,
} from '../snapshot.ts'
import { type Asked, answered } from '../statement.ts'
import { type Connection, connect, unavailable } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { busyTimeoutMs, refuseForeign } from './open-file.ts'
import { requireOwnSchema } from './own-schema.ts'

/** @throws ErrandError NOT_FOUND, LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_CORRUPT, LEDGER_BUSY, LEDGER_UNAVAILABLE */
export function openFileSnapshot(path: string): LedgerSnapshot {
  if (!existsSync(path)) throw new ErrandError('NOT_FOUND', `There is no ledger at ${path}.`, { ledger: path })
  try {
    const connection = connect(path, { busyTimeoutMs, mustExist: true })
    try {
      connection.pragma('query_only = on')
      connection.execute('begin')
      refuseForeign(connection, path)
      requireOwnSchema(connection, path)
      requireCurrentVersion(Number(connection.pragma('user_version')), path)
      return new FileSnapshot(connection)
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    throw unavailable(error, path, 'opened')
  }
}

/** Runs work in the transaction of a connection. */
export function runToEnd<R>(connection: Connection, op: Op<R>): R {
  let next = op.next()
  while (!next.done) next = op.next(answered(next.value as Asked, (request) => connection.run(request)))
  return next.value
}

/** What a connection with an open transaction sees. */
export class FileSnapshot implements LedgerSnapshot {
  readonly name: string
  readonly dialect = sqliteDialect
  readonly at = systemClock.now()
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.name = connection.path
    this.#connection = connection
  }

  async run<R>(op: Op<R>): Promise<R> {
    return this.#reading(() => runToEnd(this.#connection, op))
  }

  async *batches({ name, columns, key }: TableShape): AsyncGenerator<StoredRow[]> {
    const names = (list: readonly string[]) => list.map((each) => `"${each}"`).join(', ')
    const select = (after: string) =>
      `select ${names(columns)} from "${name}" ${after} order by ${names(key)} limit ${batchRows}`
    const first = select('')
    const next = select(`where (${names(key)}) > (${key.map(() => '?').join(', ')})`)
    for (let last: StoredRow | undefined; ; ) {
      const parameters = last === undefined ? [] : key.map((column) => last?.[column])
      const rows = this.#reading(() => firstOf(this.#connection.each(last === undefined ? first : next, parameters)))
      if (rows.length === 0) return
      yield rows
      last = rows.at(-1)
    }
  }

  async lastNumbers(): Promise<ReadonlyMap<string, number>> {
    const rows = this.#rows<{ name: string; seq: number }>('select name, seq from sqlite_sequence')
    return new Map(rows.map(({ name, seq }) => [name, seq]))
  }

  async damages(limit: number): Promise<string[]> {
    const found = this.#rows<{ integrity_check: string }>(`pragma integrity_check(${limit})`)
    // A row may have several lines below a heading.
    const texts = found
      .flatMap((each) => each.integrity_check.split('\n'))
      .filter((text) => text !== 'ok' && !text.startsWith('***'))
    const orphans = this.#rows<{ table: string; rowid: number | null; parent: string }>('pragma foreign_key_check')
    return [
      ...texts.map((text) => `The integrity check of SQLite says: ${text}.`),
      ...orphans.map(({ table, rowid, parent }) => {
        const row = rowid === null ? `A row of ${table}` : `The row of ${table} with rowid ${rowid}`
        return `${row} refers to a row of ${parent} that does not exist.`
      }),
    ].slice(0, limit)
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  #rows<Row>(sql: string): Row[] {
    return this.#reading(() => this.#connection.run({ sql, parameters: [], want: 'rows' })) as Row[]
  }

  #reading<R>(read: () => R): R {
    try {
      return read()
    } catch (error) {
      throw ErrandError.isInstance(error) ? error : unavailable(error, this.name, 'read')
    }
  }
}

/** As many rows as a batch may have; reading ends there. */
function firstOf(rows: Iterable<StoredRow>): StoredRow[] {
  const found: StoredRow[] = []
  let length = 0
  for (const row of rows) {
    found.push(row)
    length += lengthOf(row)
    if (length >= maxPageBytes) break
  }
  return found
}
