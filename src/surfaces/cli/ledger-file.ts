// The file of a ledger while a run works on it. A file that was deleted or replaced takes writes as before, and nobody will
// ever read them: so before a run says how it ended, it looks whether its ledger is still the one that the path names.
import { type BigIntStats, statSync } from 'node:fs'
import { ErrandError } from '../../errors.ts'
import { isLedgerFile } from './ledger-path.ts'

export class LedgerFile {
  readonly #ledger: string
  readonly #atStart: BigIntStats | undefined

  /** @param ledger an open one. */
  constructor(ledger: string) {
    this.#ledger = ledger
    this.#atStart = this.#look()
  }

  /** @throws ErrandError LEDGER_UNAVAILABLE when the path names no file any more, or another one. */
  requireSame(): void {
    const now = this.#look()
    if (now?.ino === this.#atStart?.ino && now?.dev === this.#atStart?.dev) return
    const what = now === undefined ? 'was deleted or moved' : 'was replaced by another file'
    throw new ErrandError(
      'LEDGER_UNAVAILABLE',
      `The ledger ${this.#ledger} ${what} while the run was working on it, so what was done since the run began is not on record there. Put the file back if it was moved; else run again, which begins anew.`,
      { ledger: this.#ledger },
    )
  }

  #look(): BigIntStats | undefined {
    return isLedgerFile(this.#ledger) ? statSync(this.#ledger, { bigint: true, throwIfNoEntry: false }) : undefined
  }
}
