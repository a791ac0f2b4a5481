// The target of a copy on a server: the tables of a ledger without its constraints, beside a table that marks them as unfinished. No engine
// opens them before the last transaction, which adds the constraints and the version.
import { ErrandError } from '../../core/errors.ts'
import { type CopyTarget, quotedColumns, type RowChange } from '../copy-target.ts'
import type { Op } from '../ledger.ts'
import { applicationId, definitionDigest, ledgerVersion, migrationTexts } from '../migrations/migrations.ts'
import type { LedgerSnapshot, TableShape } from '../snapshot.ts'
import { requireUsable, unusable } from './check-server.ts'
import { StatementFailed } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { foreignTables, storeVersion, tablesFound } from './migrate.ts'
import { ServerConnection } from './server-connection.ts'
import { ServerSnapshot } from './server-snapshot.ts'
import type { ServerTarget } from './server-url.ts'
import { drive, Session } from './session.ts'

/** Held by the session that copies; each schema has one of its own. */
const copyLock = applicationId + 4

/**
 * Opens the target for the ledger that will be at `url`, or continues one.
 * @throws ErrandError LEDGER_EXISTS, LEDGER_BUSY, LEDGER_FOREIGN, LEDGER_UNAVAILABLE, NOT_OFFERED
 */
export async function openServerTarget(url: ServerTarget, tables: readonly TableShape[]): Promise<CopyTarget> {
  const connection = new ServerConnection(url, {
    title: 'errand copy',
    // Constraints are checked over whole tables at the end.
    settings: { statement_timeout: '0', lock_timeout: '5s' },
  })
  try {
    await connection.ensure()
    const schema = await requireUsable(connection, url)
    if (schema === undefined && url.schema !== undefined) {
      await connection.query(`create schema if not exists "${url.schema.replaceAll('"', '""')}"`)
    }
    await lock(connection, url.name)
    const isContinued = await prepare(connection, url.name, tables)
    return new PostgresTarget(url, connection, { tables, isContinued })
  } catch (error) {
    await connection.close()
    throw ErrandError.isInstance(error) ? error : unusable(error, url.name)
  }
}

async function lock(connection: ServerConnection, name: string): Promise<void> {
  const { rows } = await connection.query(
    'select pg_try_advisory_lock($1::int4, hashtext(current_schema())) as taken',
    [copyLock],
  )
  if ((rows as [{ taken: boolean }])[0].taken) return
  throw new ErrandError('LEDGER_BUSY', `Another copy to ${name} is being made. Wait until it is done.`, {
    ledger: name,
  })
}

/** Makes the tables, empty, unless they are there: then it is an unfinished copy. */
async function prepare(connection: ServerConnection, name: string, tables: readonly TableShape[]): Promise<boolean> {
  const found = await tablesFound(connection)
  if (found.ours) {
    throw new ErrandError(
      'LEDGER_EXISTS',
      `There is a ledger at ${name} already, and a copy replaces nothing. Name another schema (?schema=), or rename the one that is there.`,
      { ledger: name },
    )
  }
  if (found.copying) {
    // As JSON, because the table of a development version has other columns.
    const { rows } = await connection.query('select to_jsonb(ledger_copy) as copy from ledger_copy limit 1')
    if ((rows as [{ copy: { digest?: string } }])[0]?.copy.digest === definitionDigest(postgresDialect, ledgerVersion))
      return true
    throw new ErrandError(
      'LEDGER_EXISTS',
      `At ${name} is an unfinished copy of another version of errand. Drop its tables, or name another schema (?schema=).`,
      { ledger: name },
    )
  }
  if (found.taken) throw foreignTables(name)
  await inTransaction(connection, async () => {
    for (const text of migrationTexts(postgresDialect, 0)) await connection.query(text)
    await connection.query('create table ledger_copy (digest text not null, reference text)')
    const digest = definitionDigest(postgresDialect, ledgerVersion)
    await connection.query('insert into ledger_copy (digest) values ($1)', [digest])
    // Rows may refer to later ones.
    const { rows } = await connection.query(
      `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as text
      from pg_constraint where contype = 'f' and conrelid = any($1::text[]::regclass[])`,
      [tables.map(({ name: table }) => `"${table}"`)],
    )
    for (const key of rows as Array<{ table: string; name: string; text: string }>) {
      const reference = `alter table ${key.table} add constraint ${key.name} ${key.text}`
      await connection.query('insert into ledger_copy (digest, reference) values ($1, $2)', [digest, reference])
      await connection.query(`alter table ${key.table} drop constraint ${key.name}`)
    }
    // Triggers keep the rows of a ledger from being changed, and those of a copy are replaced if they differ. A new ledger begins with rows.
    const statements = tables.map(
      ({ name: table }) => `alter table "${table}" disable trigger user; delete from "${table}"`,
    )
    await connection.query(statements.join('; '))
  })
  return false
}

class PostgresTarget implements CopyTarget {
  readonly name: string
  readonly dialect = postgresDialect
  readonly isContinued: boolean
  readonly #url: ServerTarget
  readonly #connection: ServerConnection
  readonly #session: Session
  readonly #tables: readonly TableShape[]

  constructor(
    url: ServerTarget,
    connection: ServerConnection,
    { tables, isContinued }: { tables: readonly TableShape[]; isContinued: boolean },
  ) {
    this.name = url.name
    this.isContinued = isContinued
    this.#url = url
    this.#connection = connection
    this.#session = new Session(connection)
    this.#tables = tables
  }

  async snapshot(): Promise<LedgerSnapshot> {
    const connection = new ServerConnection(this.#url, {
      title: 'errand copy',
      settings: { statement_timeout: '0', default_transaction_read_only: 'on' },
    })
    return await ServerSnapshot.begin(this.name, connection)
  }

  async write(table: TableShape, { put, remove }: RowChange): Promise<void> {
    const { all, key, updates } = quotedColumns(table)
    const rows = `json_populate_recordset(null::"${table.name}", $1::json)`
    await this.#inTransaction(async () => {
      if (remove.length > 0) {
        await this.#query(`delete from "${table.name}" where (${key}) in (select ${key} from ${rows})`, [
          JSON.stringify(remove),
        ])
      }
      if (put.length > 0) {
        await this.#query(
          `insert into "${table.name}" (${all}) select ${all} from ${rows} on conflict (${key}) ${updates}`,
          [JSON.stringify(put)],
        )
      }
    })
  }

  async clearTextIndex(): Promise<void> {
    await this.#inTransaction(() => this.#query('truncate fact_text'))
  }

  async run(op: Op<unknown>): Promise<void> {
    await this.#inTransaction(() => drive(op, (request) => this.#session.reply(request)))
  }

  async finish(lastNumbers: ReadonlyMap<string, number>): Promise<undefined> {
    await this.#inTransaction(async () => {
      for (const { name, isNumbered } of this.#tables) {
        await this.#query(`alter table "${name}" enable trigger user`)
        const last = lastNumbers.get(name) ?? 0
        if (!isNumbered || last === 0) continue
        await this.#query(`select setval(pg_get_serial_sequence($1, 'seq'), $2)`, [`"${name}"`, last])
      }
      const { rows } = await this.#query('select reference from ledger_copy where reference is not null')
      for (const { reference } of rows as Array<{ reference: string }>) await this.#query(reference)
      await this.#query('drop table ledger_copy')
      await storeVersion(this.#connection)
    })
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  #query(sql: string, parameters?: unknown[]): ReturnType<Session['request']> {
    return this.#session.request(sql, parameters)
  }

  async #inTransaction(work: () => Promise<unknown>): Promise<void> {
    try {
      await inTransaction(this.#connection, work)
    } catch (error) {
      if (!(error instanceof StatementFailed)) throw error
      // foreign_key_violation
      if (error.sqlState === '23503') throw missingReference(error, this.name)
      // Rows of a continued copy have exchanged a unique value meanwhile.
      const remedy =
        error.sqlState === '23505'
          ? 'Drop its tables, then copy again.'
          : 'When it can be written again, the same command continues the copy.'
      throw new ErrandError(
        'LEDGER_WRITE_FAILED',
        `The copy ${this.name} could not be written (${error.message}). ${remedy}`,
        { ledger: this.name },
        error,
      )
    }
  }
}

async function inTransaction(connection: ServerConnection, work: () => Promise<unknown>): Promise<void> {
  const request = (sql: string) =>
    connection.query(sql).catch((error: unknown) => {
      throw new StatementFailed(error)
    })
  await request('begin')
  try {
    await work()
    await request('commit')
  } catch (error) {
    await connection.query('rollback').catch(() => {})
    throw error
  }
}

function missingReference(error: Error, ledger: string): ErrandError {
  return new ErrandError(
    'LEDGER_CORRUPT',
    `The copy ${ledger} cannot be completed: a row refers to one that the original does not have (${error.message}). "errand ledger check" lists what is wrong there.`,
    { ledger },
    error,
  )
}
