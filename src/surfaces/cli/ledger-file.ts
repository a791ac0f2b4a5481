// The file of a ledger while a run works on it. A file that was deleted or replaced takes writes as before, and nobody will
// ever read them: so before a run says how it ended, it looks whether its ledger is still the one that the path names.
import { statSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { isLedgerFile } from './ledger-path.ts'

/**
 * Gives what looks whether an open ledger is still the one that its path names.
 * @throws (later) ErrandError LEDGER_UNAVAILABLE when the path names no file any more, or another one.
 */
export function ledgerFileCheck(ledger: string): () => void {
  const look = () => (isLedgerFile(ledger) ? statSync(ledger, { bigint: true, throwIfNoEntry: false }) : undefined)
  const before = look()
  return () => {
    const now = look()
    if (now?.ino === before?.ino && now?.dev === before?.dev) return
    const what = now === undefined ? 'was deleted or moved' : 'was replaced by another file'
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `The ledger ${ledger} ${what} while the run was working on it, so what was done since the run began is not on record there. Put the file back if it was moved; else run again, which begins anew.`,
      { ledger },
    )
  }
}
