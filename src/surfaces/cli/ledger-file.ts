// Detects that the file of a ledger was deleted or replaced while a run was working on it. An open file accepts writes after that,
// but they are lost; so a run checks the path before it reports its outcome.
import { statSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { isLedgerFile } from './ledger-path.ts'

/**
 * Returns a function that checks whether the path still names the open ledger.
 * It throws ErrandError LEDGER_UNAVAILABLE when the file is missing or is another one.
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
      `The ledger ${ledger} ${what} while the run was using it, so nothing that was done since the run began is recorded there. If the file was moved, put it back. Otherwise run the command again: it starts from the beginning.`,
      { ledger },
    )
  }
}
