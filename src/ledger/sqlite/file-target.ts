// The target of a copy in a file: a database beside the name of the ledger, which gets that name when it is complete.
import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { type CopyTarget, quotedColumns, type RowChange } from '../copy-target.ts'
import type { Op } from '../ledger.ts'
import { applicationId, ledgerVersion, migrationTexts, unfinishedCopyId } from '../migrations/migrations.ts'
import type { LedgerSnapshot, StoredRow, TableShape } from '../snapshot.ts'
import { isFoundBySearch, newTrustId, saveRecord } from '../trust-record.ts'
import { type Connection, connect, isBusy, sqliteCode, unavailable } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { FileSnapshot, runToEnd } from './file-snapshot.ts'
import { createInstanceLocks } from './instance-lock.ts'
import { prepareFile } from './open-file.ts'
import { putInPlace, requireUnused, taken } from './replace-file.ts'
import { ledgerTriggers, tableShapes, triggersOf } from './table-shapes.ts'
import { storeTrustId } from './trust-id.ts'

const busyTimeoutMs = 5_000
/** Held by the process that makes the copy. */
const copyLock = 'copy-lock'
/** Of the name of an unfinished copy. */
const ending = '.copying'

/**
 * Opens the target for the ledger that will be at `path`, or continues one.
 * @throws ErrandError LEDGER_EXISTS, LEDGER_BUSY, LEDGER_UNAVAILABLE
 */
export function openFileTarget(given: string, { replace }: { replace: boolean }): CopyTarget {
  if (given.endsWith(ending)) {
    throw new ErrandError('INVALID_INPUT', `${given} is the name of an unfinished copy: leave out "${ending}".`, {
      path: given,
    })
  }
  const path = existsSync(given) ? realpathSync(given) : given
  if (existsSync(path)) {
    if (!replace) throw taken(path)
    requireUnused(path)
  }
  const file = path + ending
  prepareFile(file)
  const locks = createInstanceLocks(file)
  // The lock of a copy that was interrupted is removed while it is held: another copy cannot lose its own.
  locks.sweep(new Set())
  if (locks.lifeOf(copyLock) !== 'unknown') throw beingMade(path)
  // The copy was complete and had its name: only the removal of this one was missing.
  if (statSync(file).nlink > 1) {
    rmSync(file)
    prepareFile(file)
  }
  try {
    locks.hold(copyLock)
  } catch (error) {
    throw (error as { cause?: { code?: string } }).cause?.code === 'EEXIST' ? beingMade(path) : error
  }
  try {
    const connection = connect(file, { busyTimeoutMs })
    try {
      const isContinued = prepare(connection, file)
      return new FileTarget(path, connection, { replace, isContinued, unlock: () => locks.releaseAll() })
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    locks.releaseAll()
    throw unavailable(error, file, 'opened')
  }
}

function beingMade(path: string): ErrandError {
  return new ErrandError('LEDGER_BUSY', `Another copy to ${path} is being made. Wait until it is done.`, {
    ledger: path,
  })
}

/**
 * Makes the tables, empty, unless the file has them: then it is an unfinished copy. There are no triggers: they keep the rows of a ledger from
 * being changed, and those of a copy are replaced if they differ.
 */
function prepare(connection: Connection, file: string): boolean {
  const id = Number(connection.pragma('application_id'))
  const isContinued = id === unfinishedCopyId || id === applicationId
  const tables = connection.run({ sql: 'select name from sqlite_schema', parameters: [], want: 'rows' }) as unknown[]
  if (tables.length > 0 && (!isContinued || Number(connection.pragma('user_version')) !== ledgerVersion)) {
    throw new ErrandError(
      'LEDGER_EXISTS',
      `${file} is not an unfinished copy that this version of errand can continue. Delete it, or move it away.`,
      { path: file },
    )
  }
  connection.pragma('journal_mode = wal')
  // Rows may refer to later ones, and a power cut only costs the copy that is being made.
  connection.pragma('foreign_keys = off')
  connection.pragma('synchronous = normal')
  connection.execute('begin immediate')
  if (!isContinued) for (const text of migrationTexts(sqliteDialect, 0)) connection.execute(text)
  for (const { name } of triggersOf(connection)) connection.execute(`drop trigger "${name}"`)
  if (!isContinued) for (const { name } of tableShapes()) connection.execute(`delete from "${name}"`)
  connection.pragma(`application_id = ${unfinishedCopyId}`)
  connection.pragma(`user_version = ${ledgerVersion}`)
  connection.execute('commit')
  return isContinued
}

class FileTarget implements CopyTarget {
  readonly name: string
  readonly dialect = sqliteDialect
  readonly isContinued: boolean
  readonly #connection: Connection
  readonly #replace: boolean
  readonly #unlock: () => void

  constructor(
    name: string,
    connection: Connection,
    { replace, isContinued, unlock }: { replace: boolean; isContinued: boolean; unlock: () => void },
  ) {
    this.name = name
    this.isContinued = isContinued
    this.#connection = connection
    this.#replace = replace
    this.#unlock = unlock
  }

  async snapshot(): Promise<LedgerSnapshot> {
    const connection = connect(this.#connection.path, { busyTimeoutMs, mustExist: true })
    connection.pragma('query_only = on')
    connection.execute('begin')
    return new FileSnapshot(connection)
  }

  async write(table: TableShape, { put, remove }: RowChange): Promise<void> {
    const { all, key, updates } = quotedColumns(table)
    const insert = `insert into "${table.name}" (${all}) values (${table.columns.map(() => '?').join(', ')})
      on conflict (${key}) ${updates}`
    const removal = `delete from "${table.name}" where ${table.key.map((column) => `"${column}" = ?`).join(' and ')}`
    const valuesOf = (row: StoredRow, columns: readonly string[]) => columns.map((column) => row[column])
    this.#inTransaction(() => {
      for (const row of remove) this.#change(removal, valuesOf(row, table.key))
      for (const row of put) this.#change(insert, valuesOf(row, table.columns))
    })
  }

  async clearTextIndex(): Promise<void> {
    this.#connection.execute(`insert into fact_text (fact_text) values ('delete-all')`)
  }

  async run(op: Op<unknown>): Promise<void> {
    this.#inTransaction(() => void runToEnd(this.#connection, op))
  }

  async finish(lastNumbers: ReadonlyMap<string, number>): Promise<string | undefined> {
    const connection = this.#connection
    const trustId = isFoundBySearch(this.name) ? newTrustId() : undefined
    this.#inTransaction(() => {
      for (const [table, last] of lastNumbers) {
        this.#change('delete from sqlite_sequence where name = ?', [table])
        this.#change('insert into sqlite_sequence (name, seq) values (?, ?)', [table, last])
      }
      requireReferences(connection, this.name)
      for (const { sql } of ledgerTriggers()) connection.execute(sql)
      if (trustId !== undefined) storeTrustId(connection, trustId)
      connection.pragma(`application_id = ${applicationId}`)
    })
    this.#toOneFile()
    connection.close()
    const replaced = putInPlace(connection.path, this.name, { replace: this.#replace })
    if (trustId !== undefined) saveRecord(this.name, { id: trustId, isConfirmed: false, log: null }, process.env)
    return replaced
  }

  /** Without a log, the file can be renamed, and read from a disk that cannot be written. An engine begins a new log. */
  #toOneFile(): void {
    const connection = this.#connection
    try {
      connection.pragma('synchronous = full')
      connection.pragma('fullfsync = on')
      if (connection.pragma('journal_mode = delete') === 'delete') return
    } catch (error) {
      if (!isBusy(error)) throw unwritable(error, connection.path)
    }
    throw new ErrandError(
      'LEDGER_BUSY',
      `The copy ${connection.path} is complete, but another process has it open. Close it there, then copy again.`,
      { path: connection.path },
    )
  }

  async close(): Promise<void> {
    this.#connection.close()
    this.#unlock()
  }

  #change(sql: string, parameters: readonly unknown[]): void {
    this.#connection.run({ sql, parameters, want: 'changes' })
  }

  #inTransaction(work: () => void): void {
    this.#connection.execute('begin immediate')
    try {
      work()
      this.#connection.execute('commit')
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.execute('rollback')
      throw unwritable(error, this.#connection.path)
    }
  }
}

/** @throws ErrandError LEDGER_CORRUPT for a row that refers to one that does not exist */
function requireReferences(connection: Connection, ledger: string): void {
  const sql = 'select "table", "parent", rowid as row from pragma_foreign_key_check limit 1'
  const [orphan] = connection.run({ sql, parameters: [], want: 'rows' }) as Array<{ table: string; parent: string }>
  if (orphan === undefined) return
  throw new ErrandError(
    'LEDGER_CORRUPT',
    `The copy ${ledger} cannot be completed: a row of ${orphan.table} refers to a row of ${orphan.parent} that the original does not have. "errand ledger check" lists what is wrong there.`,
    { ledger, ...orphan },
  )
}

/** The database refused a write: there is no room, or a continued copy has rows that exchanged a unique value meanwhile. */
function unwritable(error: unknown, path: string): unknown {
  const code = sqliteCode(error)
  if (code === undefined) return error
  const remedy = code.startsWith('SQLITE_CONSTRAINT')
    ? 'Delete it, then copy again.'
    : 'When it can be written again, the same command continues the copy.'
  return new ErrandError(
    'LEDGER_WRITE_FAILED',
    `The copy ${path} could not be written (${(error as Error).message}). ${remedy}`,
    { path, sqlite: code },
    error,
  )
}
