// The only file that knows better-sqlite3: a connection with its pragmas, prepared statements by text, and error words.
import { createRequire } from 'node:module'
import type DatabaseConstructor from 'better-sqlite3'
import { ErrandError } from '../../../errors.ts'
import { requireRuntime } from '../../../runtime.ts'
import type { Request } from '../../statement.ts'

/** Statements prepared at once; the engine has about 180, ad-hoc lists share the rest. */
const mostStatements = 384

export interface Connection {
  readonly path: string
  run(request: Request): unknown
  execute(sql: string): void
  pragma(name: string): unknown
  /** Changes when another connection has committed. */
  dataVersion(): unknown
  readonly inTransaction: boolean
  close(): void
}

function driver(): typeof DatabaseConstructor {
  requireRuntime()
  return createRequire(import.meta.url)('better-sqlite3') as typeof DatabaseConstructor
}

/** Opens a database as it is: no pragma that writes. `busyTimeoutMs` blocks the event loop, so it is short. */
export function connect(path: string, options: { busyTimeoutMs: number; readonly?: boolean }): Connection {
  const Database = driver()
  const database = new Database(path, { timeout: options.busyTimeoutMs, readonly: options.readonly ?? false })
  const statements = new Map<string, DatabaseConstructor.Statement>()

  function prepared(sql: string): DatabaseConstructor.Statement {
    let statement = statements.get(sql)
    if (statement === undefined) {
      if (statements.size >= mostStatements) statements.delete(statements.keys().next().value as string)
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  const dataVersion = database.prepare('pragma data_version').pluck()
  return {
    path,
    run({ sql, parameters, want }) {
      const statement = prepared(sql)
      if (want === 'rows') return statement.all(...parameters)
      const { changes, lastInsertRowid } = statement.run(...parameters)
      return want === 'seq' ? Number(lastInsertRowid) : changes
    },
    execute(sql) {
      if (sql === 'begin immediate' || sql === 'commit' || sql === 'rollback') prepared(sql).run()
      else database.exec(sql)
    },
    pragma: (name) => database.pragma(name, { simple: true }),
    dataVersion: () => dataVersion.get(),
    get inTransaction() {
      return database.inTransaction
    },
    close: () => database.close(),
  }
}

/** SQLite's own word for an error (`SQLITE_BUSY`), or undefined when it is not one of its. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED')
}

/** The typed form of damage; anything else is returned as it is. */
export function translate(error: unknown, path: string): unknown {
  const code = sqliteCode(error)
  if (code === undefined) return error
  if (code.startsWith('SQLITE_CORRUPT')) {
    return new ErrandError(
      'LEDGER_CORRUPT',
      `The ledger ${path} is damaged (${(error as Error).message}). Restore a backup, or salvage it with \`sqlite3 ${path} .recover\`.`,
      { path },
      error,
    )
  }
  if (code === 'SQLITE_NOTADB') {
    return new ErrandError('LEDGER_FOREIGN', `${path} is not a SQLite database. Name another file.`, { path }, error)
  }
  return error
}
