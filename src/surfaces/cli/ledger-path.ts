// Which ledger a command uses: --ledger, else ERRAND_LEDGER, else the one found from the current folder (ledger/find-ledger.ts).
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { messageOf } from '../../core/stored-error.ts'
import { findLedger, isLedgerFile } from '../../ledger/find-ledger.ts'
import { shownLedger } from '../../ledger/open-ledger.ts'
import { misuse } from '../terminal/arguments.ts'
import { type CommandIo, note } from '../terminal/io.ts'

interface ProcessContext {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
}

/** The absolute path of the ledger, or a name that is not a path (`:memory:`, `postgres://…`). */
export function resolveLedger(flag: string | undefined, context: ProcessContext): string {
  const named = flag ?? (context.env['ERRAND_LEDGER'] || undefined)
  if (named === '') throw misuse('--ledger is empty: it takes the path of a ledger file.', { option: 'ledger' })
  if (named !== undefined) return isLedgerFile(named) ? resolve(context.cwd, named) : named
  return findLedger(context.cwd, context.env)
}

/** Whether the file exists; true for a ledger that is not a file, which the engine checks. */
export function ledgerExists(ledger: string): boolean {
  return !isLedgerFile(ledger) || existsSync(ledger)
}

/**
 * For a command that may create its ledger: says on stderr that it does (not with `--json`), and makes the folder, readable by its owner
 * only.
 */
export function prepareLedger(io: CommandIo, ledger: string, { json }: { json?: boolean | undefined } = {}): void {
  if (ledgerExists(ledger)) return
  if (json !== true) note(io, `Creating a new ledger: ${ledger}`)
  try {
    mkdirSync(dirname(ledger), { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = `Cannot create the folder of the ledger ${ledger}: ${messageOf(error)}.`
    throw new ErrandError('LEDGER_UNAVAILABLE', message, { ledger }, error)
  }
}

/** The refusal of a command that only reads: it creates no ledger, because a mistyped path should not look like an empty one. */
export function missingLedger(ledger: string): ErrandError {
  const nearest = nearestFile(ledger)
  return new ErrandError(
    'NOT_FOUND',
    `There is no ledger at ${ledger}.${didYouMean(nearest)} "errand run PLAN" or "errand add" creates one; --ledger or ERRAND_LEDGER names another.`,
    { ledger, ...omitUndefined({ nearest }) },
  )
}

/** An existing file that differs from `file` in one name of its path; undefined if none has a similar name. */
function nearestFile(file: string): string | undefined {
  const missing = [basename(file)]
  let folder = dirname(file)
  for (; !existsSync(folder); folder = dirname(folder)) missing.unshift(basename(folder))
  const [written, ...below] = missing as [string, ...string[]]
  const isCandidate = (name: string) => existsSync(join(folder, name, ...below))
  const nearest = nearestName(written, namesIn(folder).filter(isCandidate))
  return nearest === undefined ? undefined : join(folder, nearest, ...below)
}

/** None for a folder that cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
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

/** `--ledger FILE` for suggested commands, when the user gave it. The password of a server is left out. */
export function ledgerFlagOf({ ledger }: { ledger?: string | undefined }): string[] {
  return ledger === undefined ? [] : ['--ledger', shownLedger(ledger)]
}
