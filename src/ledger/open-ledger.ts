// Opens a ledger by its name: the only place that selects a dialect.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { Ledger } from './ledger.ts'

/**
 * Opens the ledger at a path, or `:memory:`.
 * @throws ErrandError NOT_OFFERED for a PostgreSQL URL, INVALID_INPUT for any other URL, and what `openSqliteLedger` throws.
 */
export async function openLedger(name: string, clock?: Clock): Promise<Ledger> {
  if (/^postgres(ql)?:\/\//i.test(name)) {
    throw new ErrandError(
      'NOT_OFFERED',
      'A ledger on a PostgreSQL server is not supported yet: claims between machines have not been tested on real servers. Name a file, or ":memory:".',
      { scheme: 'postgres' },
    )
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(name)) {
    throw new ErrandError(
      'INVALID_INPUT',
      `A ledger is a file path or ":memory:", not a URL like "${name.split('://')[0]}://…".`,
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
  // The statements and their builder are most of what the engine loads, so they are loaded with the first ledger.
  const { openSqliteLedger } = await import('./dialects/sqlite/sqlite-ledger.ts')
  return openSqliteLedger(name, clock)
}
