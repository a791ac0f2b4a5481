// A snapshot of a ledger on a server: a transaction that reads, on a connection of its own.
import { ErrandError } from '../../core/errors.ts'
import type { Op } from '../ledger.ts'
import { unfinishedCopy } from '../migrations/migrations.ts'
import { maxPageBytes } from '../page-bytes.ts'
import {
  batchRows,
  type LedgerSnapshot,
  lengthOf,
  requireCurrentVersion,
  type StoredRow,
  type TableShape,
} from '../snapshot.ts'
import type { Request } from '../statement.ts'
import { requireUsable, unusable } from './check-server.ts'
import { StatementFailed } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { storedVersion, tablesFound } from './migrate.ts'
import { ServerConnection } from './server-connection.ts'
import type { ServerTarget } from './server-url.ts'
import { drive, Session } from './session.ts'

/** @throws ErrandError NOT_FOUND, LEDGER_VERSION, LEDGER_UNAVAILABLE, NOT_OFFERED */
export async function openServerSnapshot(target: ServerTarget): Promise<LedgerSnapshot> {
  const { name } = target
  const connection = new ServerConnection(target, {
    title: 'errand snapshot',
    settings: { statement_timeout: '0', idle_in_transaction_session_timeout: '0', default_transaction_read_only: 'on' },
  })
  try {
    await connection.ensure()
    await requireUsable(connection, target)
    const version = await storedVersion(connection, name)
    if (version === undefined) {
      if ((await tablesFound(connection)).copying) throw unfinishedCopy(name)
      throw new ErrandError('NOT_FOUND', `There is no ledger at ${name}.`, { ledger: name })
    }
    requireCurrentVersion(version, name)
    return await ServerSnapshot.begin(name, connection)
  } catch (error) {
    await connection.close()
    throw ErrandError.isInstance(error) ? error : unusable(error, name)
  }
}

export class ServerSnapshot implements LedgerSnapshot {
  readonly name: string
  readonly dialect = postgresDialect
  readonly at: number
  readonly #connection: ServerConnection
  readonly #session: Session

  /** Closes the connection if that fails. @throws StatementFailed; ErrandError LEDGER_UNAVAILABLE, NOT_OFFERED */
  static async begin(name: string, connection: ServerConnection): Promise<ServerSnapshot> {
    const session = new Session(connection)
    try {
      await connection.ensure()
      await session.begin('begin isolation level repeatable read read only')
      const { rows } = await session.request('select extract(epoch from clock_timestamp())::float8 * 1000 as at')
      return new ServerSnapshot(name, (rows as [{ at: number }])[0].at, connection, session)
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private constructor(name: string, at: number, connection: ServerConnection, session: Session) {
    this.name = name
    this.at = at
    this.#connection = connection
    this.#session = session
  }

  async run<R>(op: Op<R>): Promise<R> {
    return await this.#reading(() => drive(op, (request: Request) => this.#session.reply(request)))
  }

  async *batches({ name, columns, key, textKey }: TableShape): AsyncGenerator<StoredRow[]> {
    const names = columns.map((each) => `"${each}"`).join(', ')
    const order = key.map((each) => (textKey.has(each) ? `"${each}" collate "C"` : `"${each}"`)).join(', ')
    const request = (sql: string) => this.#reading(() => this.#session.request(sql))
    // A cursor: the index of a key has another order in most locales, so the rows are sorted once.
    await request(`declare all_rows no scroll cursor for select ${names} from "${name}" order by ${order}`)
    // The server sends a fetch as a whole: the next one asks for as many rows as those before suggest, at first for few.
    for (let wanted = 16; ; ) {
      const rows = (await request(`fetch ${wanted} from all_rows`)).rows as StoredRow[]
      if (rows.length === 0) break
      yield rows
      const fit = Math.floor(
        (rows.length * maxPageBytes) /
          Math.max(
            1,
            rows.reduce((sum, row) => sum + lengthOf(row), 0),
          ),
      )
      wanted = Math.max(1, Math.min(batchRows, 4 * wanted, fit))
    }
    await request('close all_rows')
  }

  async lastNumbers(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#reading(() =>
      this.#session.request(`
        select t.relname as name, pg_sequence_last_value(s.oid) as seq, has_sequence_privilege(s.oid, 'select') as readable
        from pg_class s
        join pg_depend d on d.objid = s.oid and d.deptype = 'a'
        join pg_class t on t.oid = d.refobjid
        where s.relkind = 'S' and s.relnamespace = (select oid from pg_namespace where nspname = current_schema())`),
    )
    const found = rows as Array<{ name: string; seq: number | null; readable: boolean }>
    const hidden = found.find(({ readable }) => !readable)
    if (hidden !== undefined) {
      throw new ErrandError(
        'LEDGER_UNAVAILABLE',
        `The role may not read the sequences of the ledger ${this.name}, by which rows are numbered. Grant it "select" on them.`,
        { ledger: this.name, table: hidden.name },
      )
    }
    return new Map(found.map(({ name, seq }) => [name, seq ?? 0]))
  }

  async damages(): Promise<string[]> {
    return []
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #reading<R>(read: () => Promise<R>): Promise<R> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof StatementFailed)) throw error
      throw new ErrandError(
        'LEDGER_UNAVAILABLE',
        `The ledger ${this.name} could not be read (${error.message}).`,
        { ledger: this.name },
        error,
      )
    }
  }
}
