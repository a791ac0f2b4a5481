// Which ledger a command uses: --ledger, else ERRAND_LEDGER, else the one found from the current folder (ledger/find-ledger.ts).
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'
import { findLedger } from '../../ledger/find-ledger.ts'
import { misuse } from '../../terminal/arguments.ts'

interface ProcessContext {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
}

/** The absolute path of the ledger, or a name that is no path (`:memory:`, `postgres://…`). */
export function resolveLedger(flag: string | undefined, context: ProcessContext): string {
  const named = flag ?? (context.env['ERRAND_LEDGER'] || undefined)
  if (named === '') throw misuse('--ledger is empty: it takes the path of a ledger file.', { option: 'ledger' })
  if (named !== undefined) return isLedgerFile(named) ? resolve(context.cwd, named) : named
  return findLedger(context.cwd, context.env)
}

/** False for a ledger that is not a file of this machine. */
export function isLedgerFile(ledger: string): boolean {
  return ledger !== ':memory:' && !/^[a-z][a-z0-9+.-]+:\/\//i.test(ledger)
}

/** Whether the file exists; true for a ledger that is no file, which the engine checks. */
export function ledgerExists(ledger: string): boolean {
  return !isLedgerFile(ledger) || existsSync(ledger)
}

/** Creates the folder of a new ledger, readable by its owner only. */
export function makeLedgerFolder(ledger: string): void {
  if (!isLedgerFile(ledger)) return
  const folder = dirname(ledger)
  if (existsSync(folder)) return
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = `Cannot create the folder of the ledger ${ledger}: ${messageOf(error)}.`
    throw new ErrandError('LEDGER_UNAVAILABLE', message, { ledger }, error)
  }
}

/** The path without symbolic links, whether the file exists or not, for deriving keys from it. */
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

/** `--ledger FILE` for suggested commands, when the user gave it. */
export function ledgerFlagOf({ ledger }: { ledger?: string | undefined }): string[] {
  return ledger === undefined ? [] : ['--ledger', ledger]
}
