// The only file that imports better-sqlite3: a connection with its pragmas, prepared statements by text, and its errors.
import type DatabaseConstructor from 'better-sqlite3'
import { ErrandError } from '../../core/errors.ts'
import { notInstalled } from '../../core/optional-package.ts'
import { fromOwnPlace } from '../../core/own-require.ts'
import { requireRuntime } from '../../core/runtime.ts'
import type { Request } from '../statement.ts'

/** The maximum of prepared statements; the engine has about 180, other lists share the rest. */
const maxStatements = 384
/** Executed with every step or read, and so prepared. */
const hotTexts: ReadonlySet<string> = new Set(['begin', 'begin immediate', 'commit', 'rollback'])

export type Connection = ReturnType<typeof connect>

function driver(): typeof DatabaseConstructor {
  requireRuntime()
  try {
    return fromOwnPlace((require) => require('better-sqlite3') as typeof DatabaseConstructor)
  } catch (error) {
    throw notInstalled(error, 'better-sqlite3', 'A ledger in a file or in memory')
  }
}

export interface ConnectOptions {
  /** Waiting blocks the event loop, so it is short. */
  busyTimeoutMs: number
  readonly?: boolean
  /** Fails if the file does not exist, instead of creating it. */
  mustExist?: boolean
}

/** Opens a database without any pragma that writes. */
export function connect(path: string, options: ConnectOptions) {
  const Database = driver()
  const { busyTimeoutMs: timeout, readonly = false, mustExist: fileMustExist = false } = options
  const database = new Database(path, { timeout, readonly, fileMustExist })
  const statements = new Map<string, DatabaseConstructor.Statement>()
  /** A rollback failed, so its transaction is still open. */
  let leftOpen = false

  function prepared(sql: string): DatabaseConstructor.Statement {
    let statement = statements.get(sql)
    if (statement === undefined) {
      if (statements.size >= maxStatements) statements.delete(statements.keys().next().value as string)
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  let dataVersion: DatabaseConstructor.Statement
  try {
    dataVersion = database.prepare('pragma data_version').pluck()
  } catch (error) {
    database.close()
    throw error
  }
  return {
    path,
    run({ sql, parameters, want }: Request): unknown {
      const statement = prepared(sql)
      if (want === 'rows') return statement.all(...parameters)
      const { changes, lastInsertRowid } = statement.run(...parameters)
      return want === 'seq' ? Number(lastInsertRowid) : changes
    },
    /** The rows of a query one by one. No other statement may run before the end. */
    each: (sql: string, parameters: readonly unknown[]): Iterable<never> =>
      prepared(sql).iterate(...parameters) as Iterable<never>,
    execute(sql: string): void {
      if (hotTexts.has(sql)) prepared(sql).run()
      else database.exec(sql)
    },
    /** Ends a transaction that a failed rollback has left open. */
    begin(text: 'begin' | 'begin immediate'): void {
      if (leftOpen && database.inTransaction) this.execute('rollback')
      leftOpen = false
      this.execute(text)
    },
    /** Never throws, so that the caller receives the error that made it necessary. */
    rollback(): void {
      // SQLite rolls back by itself after a full disk or an I/O error.
      if (!database.inTransaction) return
      try {
        this.execute('rollback')
      } catch {
        leftOpen = true
      }
    },
    pragma: (name: string): unknown => database.pragma(name, { simple: true }),
    /** Changes when another connection has committed. */
    dataVersion: (): unknown => dataVersion.get(),
    get inTransaction(): boolean {
      return database.inTransaction
    },
    close: (): void => void database.close(),
  }
}

/** SQLite's code of an error (`SQLITE_BUSY`), or undefined for other errors. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED')
}

/** Converts the error of a damaged file; returns other errors as they are. */
export function translate(error: unknown, path: string): unknown {
  const code = sqliteCode(error)
  if (code === undefined) return error
  if (code.startsWith('SQLITE_CORRUPT')) return damaged(path, (error as Error).message, { path }, error)
  if (code === 'SQLITE_NOTADB') {
    return new ErrandError(
      'LEDGER_FOREIGN',
      `${path} is not a SQLite database. Name another file for the ledger.`,
      { path },
      error,
    )
  }
  return error
}

export function damaged(path: string, why: string, details: Record<string, unknown>, cause?: unknown): ErrandError {
  const message = `The ledger ${path} is damaged (${why}). Restore a backup, or salvage it with \`sqlite3 ${path} .recover\`.`
  return new ErrandError('LEDGER_CORRUPT', message, details, cause)
}

/** Converts the error of a ledger that cannot be used, with what would help. */
export function unavailable(error: unknown, path: string, what: 'opened' | 'read'): ErrandError {
  const typed = translate(error, path)
  if (ErrandError.isInstance(typed)) return typed
  const reason = error instanceof Error ? error.message : String(error)
  if (isBusy(error)) {
    const text = `The ledger ${path} cannot be ${what}: another process holds its lock (${reason}). Try again.`
    return new ErrandError('LEDGER_BUSY', text, { path }, error)
  }
  const code = (error as { code?: string } | null)?.code ?? ''
  const remedy = remedies.find(({ codes }) => codes.test(code))?.remedy ?? 'Check the disk, then try again.'
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The ledger ${path} cannot be ${what}: ${reason}. ${remedy}`,
    { path, ...(code === '' ? {} : { code }) },
    error,
  )
}

const remedies = [
  { codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/, remedy: 'Free some disk space, then try again.' },
  { codes: /^(EMFILE|ENFILE)/, remedy: 'Close files or raise the limit of open files (ulimit -n), then try again.' },
  {
    codes: /^(EACCES|EPERM|EROFS|SQLITE_PERM|SQLITE_READONLY)/,
    remedy: 'Let this user write the file and its folder.',
  },
  {
    codes: /^SQLITE_CANTOPEN/,
    remedy: 'Check that its folder may be written and that the process may open more files (ulimit -n).',
  },
  { codes: /^SQLITE_IOERR/, remedy: 'Check the disk and the space left on it, then try again.' },
]
