// Opens a ledger file: private, durable, checked, made by errand and of its version; the same for the first process that opens it and for
// ten at once.
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { createRandomIds } from '../../core/ids.ts'
import type { Environment } from '../home.ts'
import {
  applicationId,
  ledgerVersion,
  migrationTexts,
  requireKnownVersion,
  unfinishedCopy,
  unfinishedCopyId,
} from '../migrations/migrations.ts'
import { idForNew, isFoundBySearch } from '../trust-record.ts'
import { type Connection, connect, isBusy, unavailable } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { requireOwnSchema } from './own-schema.ts'
import { quickCheck } from './quick-check.ts'
import { claim, noteLog, storeTrustId } from './trust-id.ts'

/** Waiting for a lock blocks the event loop, so it is short; longer waits are repeated asynchronously. */
export const busyTimeoutMs = 50
/** Files below this size are checked for damage before anything else, larger ones in a worker beside the first steps. */
const checkedAtOnceBytes = 32 * 1024 * 1024
/** Older versions can corrupt a WAL when it is reset (3.7.0 to 3.51.2). */
const oldestSqlite = [3, 51, 3] as const
const openPatienceMs = 15_000

export interface OpenedFile {
  connection: Connection
  /** The file is too large to have been checked at once. */
  checkLater: boolean
}

/**
 * Opens the ledger at a path or `:memory:`, and creates it if necessary.
 * @throws ErrandError LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_CORRUPT, LEDGER_BUSY, LEDGER_UNAVAILABLE
 */
export async function openFile(path: string, clock: Clock, random: () => number): Promise<OpenedFile> {
  // Recorded before there is a file: whatever finds the file finds the record too.
  if (isFoundBySearch(path) && isEmpty(path)) idForNew(path, process.env)
  const bytes = path === ':memory:' ? 0 : prepareFile(path)
  // The pauses are added up instead of reading the clock: a wall clock that jumps says nothing about the lock.
  for (let waitedMs = 0; ; ) {
    try {
      return openOnce(path, bytes)
    } catch (error) {
      if (!isBusy(error)) throw unavailable(error, path, 'opened')
      if (waitedMs > openPatienceMs) {
        throw new ErrandError(
          'LEDGER_BUSY',
          `The ledger ${path} cannot be opened: another process has held its lock for ${Math.round(waitedMs)} ms. Try again when that process has released it.`,
          { path },
          error,
        )
      }
      const pauseMs = 5 + random() * 45
      await new Promise<void>((resume) => clock.setTimeout(() => resume(), pauseMs))
      waitedMs += pauseMs + busyTimeoutMs
    }
  }
}

function openOnce(path: string, bytes: number): OpenedFile {
  const connection = connect(path, { busyTimeoutMs })
  try {
    requireSqlite(connection)
    inOneSnapshot(connection, () => {
      refuseForeign(connection, path)
      if (path !== ':memory:') requireOwnSchema(connection, path)
    })
    configure(connection, path)
    noteLog(connection, path)
    const checkLater = bytes > checkedAtOnceBytes
    if (bytes > 0 && !checkLater) quickCheck(connection)
    migrate(connection, path)
    if (forgetStatistics(connection)) {
      // A connection keeps what it has read.
      connection.close()
      return openOnce(path, bytes)
    }
    return { connection, checkLater }
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Creates the file before SQLite does, so that it and SQLite's files beside it are private. Returns its size. An existing file is never
 * opened here: closing a descriptor drops every lock that SQLite holds on the file in this process (fcntl(2)), and with them the protection
 * of what other engines of this process have written.
 */
export function prepareFile(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'wx', 0o600))
    return 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unavailable(error, path, 'opened')
  }
  try {
    const stat = statSync(path)
    if (!stat.isFile()) {
      throw new ErrandError('LEDGER_FOREIGN', `${path} is not a file. Name the ledger file, not its folder.`, {
        path,
      })
    }
    makePrivate(path, stat)
    return stat.size
  } catch (error) {
    throw unavailable(error, path, 'opened')
  }
}

/**
 * Makes a file of this user private again that all users may read or write (a copy, a restored backup), with SQLite's files beside it. A
 * file that only its group shares was made so on purpose.
 */
function makePrivate(path: string, stat: Stats): void {
  if (stat.uid !== process.getuid?.() || (stat.mode & constants.S_IRWXO) === 0) return
  try {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600)
  } catch {
    // A file system without modes has none to remove.
  }
}

function requireSqlite(connection: Connection): void {
  const [found] = connection.run({ sql: 'select sqlite_version() as version', parameters: [], want: 'rows' }) as [
    { version: string },
  ]
  const parts = found.version.split('.').map(Number)
  for (let index = 0; index < oldestSqlite.length; index++) {
    const difference = (parts[index] ?? 0) - (oldestSqlite[index] as number)
    if (difference > 0) return
    if (difference < 0) {
      throw new ErrandError(
        'UNSUPPORTED_RUNTIME',
        `SQLite ${found.version} can corrupt a write-ahead log; errand requires ${oldestSqlite.join('.')} or later. Update better-sqlite3.`,
        { sqlite: found.version },
      )
    }
  }
}

/** Another process may migrate the file between two reads, which then contradict each other: no application id, and tables. */
function inOneSnapshot(connection: Connection, read: () => void): void {
  connection.execute('begin')
  try {
    read()
  } finally {
    if (connection.inTransaction) connection.execute('rollback')
  }
}

/** @throws ErrandError LEDGER_FOREIGN, LEDGER_VERSION */
export function refuseForeign(connection: Connection, path: string): void {
  const application = Number(connection.pragma('application_id'))
  if (application === unfinishedCopyId) throw unfinishedCopy(path)
  if (application === applicationId) {
    requireKnownVersion(Number(connection.pragma('user_version')), path, { path })
    return
  }
  const [tables] = connection.run({
    sql: 'select count(*) as count from sqlite_schema',
    parameters: [],
    want: 'rows',
  }) as [{ count: number }]
  if (application === 0 && tables.count === 0) return
  throw new ErrandError(
    'LEDGER_FOREIGN',
    `${path} is a SQLite database of another program. Name another file for the ledger.`,
    {
      path,
      applicationId: application,
    },
  )
}

function configure(connection: Connection, path: string): void {
  // A new file gets its first page with the change to WAL mode. A process that is killed at that leaves no journal beside it.
  if (Number(connection.pragma('page_count')) === 0) connection.pragma('journal_mode = memory')
  const mode = connection.pragma('journal_mode = wal')
  if (path !== ':memory:' && mode !== 'wal') {
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `The ledger ${path} cannot use WAL mode (its journal mode stays ${String(mode)}), which network file systems do not support. Move it to a local disk.`,
      {
        path,
        mode,
      },
    )
  }
  // The driver is built to use NORMAL in WAL mode, with which a power cut loses acknowledged rows.
  connection.pragma('synchronous = full')
  connection.pragma('fullfsync = on')
  connection.pragma('foreign_keys = on')
  connection.pragma('trusted_schema = off')
  connection.pragma('cell_size_check = on')
  connection.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Migrates in one transaction under the write lock: a second process finds it migrated. */
function migrate(connection: Connection, path: string): void {
  if (Number(connection.pragma('user_version')) === ledgerVersion) return
  connection.execute('begin immediate')
  try {
    const version = Number(connection.pragma('user_version'))
    refuseForeign(connection, path)
    for (const text of migrationTexts(sqliteDialect, version)) connection.execute(text)
    const trustId = version === 0 && isFoundBySearch(path) ? idForNew(path, process.env) : undefined
    if (trustId !== undefined) storeTrustId(connection, trustId)
    connection.pragma(`application_id = ${applicationId}`)
    connection.pragma(`user_version = ${ledgerVersion}`)
    connection.execute('commit')
  } catch (error) {
    if (connection.inTransaction) connection.execute('rollback')
    throw error
  }
}

/**
 * Removes what another program's ANALYZE or `PRAGMA optimize` has found out about the rows; true if there was anything. Plans must depend on
 * the schema and the statement alone: statistics of a small ledger let SQLite choose walks through whole tables, which then grow.
 */
function forgetStatistics(connection: Connection): boolean {
  const rowsOf = (sql: string) => connection.run({ sql, parameters: [], want: 'rows' }) as Array<{ name: string }>
  const tables = rowsOf(`select name from sqlite_schema where name in ('sqlite_stat1', 'sqlite_stat4')`)
  const filled = tables.filter(({ name }) => rowsOf(`select '' as name from ${name} limit 1`).length > 0)
  for (const { name } of filled) connection.execute(`delete from ${name}`)
  return filled.length > 0
}

/** Opens a ledger that the user says they trust, and records it as theirs. False if that cannot be recorded. */
export async function claimFile(path: string, env: Environment): Promise<boolean> {
  const { connection } = await openFile(path, systemClock, createRandomIds().random)
  try {
    return claim(connection, path, env)
  } finally {
    connection.close()
  }
}
