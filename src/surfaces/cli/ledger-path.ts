// Which ledger a command means: --ledger, else ERRAND_LEDGER, else the one of the place (ledger/find-ledger.ts).
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'
import { findLedger } from '../../ledger/find-ledger.ts'
import { misuse } from '../../terminal/arguments.ts'

interface Place {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
}

/** The ledger's path as the engine takes it: absolute, or what is no path at all (`:memory:`, `postgres://…`). */
export function resolveLedger(flag: string | undefined, place: Place): string {
  const named = flag ?? (place.env['ERRAND_LEDGER'] || undefined)
  if (named === '') throw misuse('--ledger is empty: it takes the path of a ledger file.', { option: 'ledger' })
  if (named !== undefined) return isLedgerFile(named) ? resolve(place.cwd, named) : named
  return findLedger(place.cwd, place.env)
}

/** False for ledgers that are no file of this machine. */
export function isLedgerFile(ledger: string): boolean {
  return ledger !== ':memory:' && !/^[a-z][a-z0-9+.-]+:\/\//i.test(ledger)
}

/** True when there is something to open; what is no file is the engine's to judge. */
export function ledgerExists(ledger: string): boolean {
  return !isLedgerFile(ledger) || existsSync(ledger)
}

/** Makes the folder of a ledger that does not exist yet, for its owner only. */
export function makeLedgerFolder(ledger: string): void {
  if (!isLedgerFile(ledger)) return
  const folder = dirname(ledger)
  if (existsSync(folder)) return
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = `Cannot make the folder of the ledger ${ledger}: ${messageOf(error)}.`
    throw new ErrandError('LEDGER_UNAVAILABLE', message, { ledger }, error)
  }
}

/** The same file by its one real name, whether it exists yet or not: what identities are made of. */
export function realLedger(ledger: string, cwd: string): string {
  if (!isLedgerFile(ledger)) return join(cwd, 'ledger')
  let folder = dirname(ledger)
  const missing: string[] = []
  while (!existsSync(folder) && dirname(folder) !== folder) {
    missing.unshift(basename(folder))
    folder = dirname(folder)
  }
  return join(realpathSync(folder), ...missing, basename(ledger))
}

/** For the commands that are shown: the ledger that the user had to name will be needed there, too. */
export function ledgerFlagOf({ ledger }: { ledger?: string | undefined }): string[] {
  return ledger === undefined ? [] : ['--ledger', ledger]
}
