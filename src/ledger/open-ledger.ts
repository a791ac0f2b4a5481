// Opens a ledger by its name: the only place that selects a dialect.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { Ledger } from './ledger.ts'
import { isServerUrl, parseServerUrl } from './postgres/server-url.ts'

/** The name of a ledger as it may be shown: of a URL, all but the password. @throws ErrandError INVALID_INPUT */
export function shownLedger(name: string): string {
  return isServerUrl(name) ? parseServerUrl(name).name : name
}

/**
 * Opens the ledger at a path, on a PostgreSQL server (`postgres://user@host/database`), or in memory (`:memory:`).
 * @throws ErrandError INVALID_INPUT for any other URL, and what `openSqliteLedger` and `openServerLedger` throw.
 */
export async function openLedger(name: string, clock?: Clock): Promise<Ledger> {
  if (isServerUrl(name)) return await (await import('./postgres/server.ts')).openServerLedger(name, clock)
  requireFileName(name)
  // The statements and their builder are most of what the engine loads, so they are loaded with the first ledger.
  const { openSqliteLedger } = await import('./sqlite/sqlite-ledger.ts')
  return openSqliteLedger(name, clock)
}

/** @throws ErrandError INVALID_INPUT for a URL of another kind */
export function requireFileName(name: string): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) {
    throw new ErrandError(
      'INVALID_INPUT',
      `A ledger is a file path, ":memory:" or the URL of a PostgreSQL server (postgres://…), not a URL like "${name.split('://')[0]}://…".`,
      {},
    )
  }
  if (/^file:/i.test(name)) {
    throw new ErrandError(
      'INVALID_INPUT',
      'A ledger is a file path or ":memory:", not a "file:" URI: options (like ?mode=ro) would become part of the file name. Remove "file:" and the part after "?".',
      {},
    )
  }
}
