// Checks a file for damage. A file of its own, because a worker imports it without the rest of the ledger.
import { type Connection, damaged, translate } from './connection.ts'

/**
 * Checks for damaged pages: on a damaged file an insert may succeed while reads fail.
 * @throws ErrandError LEDGER_CORRUPT
 */
export function quickCheck(connection: Connection): void {
  let found: unknown
  try {
    found = connection.pragma('quick_check(1)')
  } catch (error) {
    throw translate(error, connection.path)
  }
  if (found !== 'ok') throw damaged(connection.path, String(found), { path: connection.path, found })
}
