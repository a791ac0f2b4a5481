// Opens a snapshot of a ledger by its name.

import { requireFileName } from './open-ledger.ts'
import { isServerUrl, parseServerUrl } from './postgres/server-url.ts'
import type { LedgerSnapshot } from './snapshot.ts'
import { openFileSnapshot } from './sqlite/file-snapshot.ts'

/**
 * Opens a snapshot of the ledger in a file, or on a PostgreSQL server.
 * @throws ErrandError INVALID_INPUT, LEDGER_UNAVAILABLE, LEDGER_FOREIGN, LEDGER_VERSION, LEDGER_CORRUPT, LEDGER_BUSY
 */
export async function openSnapshot(name: string): Promise<LedgerSnapshot> {
  if (isServerUrl(name)) {
    const { openServerSnapshot } = await import('./postgres/server.ts')
    return await openServerSnapshot(parseServerUrl(name))
  }
  requireFileName(name)
  return openFileSnapshot(name)
}
