// `errand ledger copy`, `check` and `restore`.
import { counted } from '../../../../core/counted.ts'
import { ErrandError } from '../../../../core/errors.ts'
import { checkLedger, type LedgerReport, ledgerRules } from '../../../../ledger/check/check-ledger.ts'
import {
  type CopiedLedger,
  type CopyOptions,
  type CopyProgress,
  copyLedger,
} from '../../../../ledger/copy/copy-ledger.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { ledgerExists, missingLedger, resolveLedger } from '../../ledger-path.ts'
import { openableLedger } from '../../trusted-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const copy = defineVerb({
  usage: 'ledger copy FROM TO',
  help: [
    'Copies the ledger FROM to a new one, and compares all rows of both. Each is a file, or the URL of a PostgreSQL server. Engines may go on',
    'working on FROM: the copy is of one moment. If it is interrupted, the same command completes it. Nothing is replaced: TO must not exist.',
    'An engine that opens the copy runs the open tasks in it, also those that run in FROM.',
  ].join('\n'),
  positionals: { min: 2, max: 2 },
  async run(io, { values, positionals: [from = '', to = ''] }) {
    const source = existing(from, io)
    const copied = await copyWithProgress(io, source, resolveLedger(to, io))
    printValue(io, values, copied, summaryOf(copied))
  },
})

export const check = defineVerb({
  usage: 'ledger check [LEDGER]',
  help: [
    'Lists what violates the invariants of a ledger, in words, and changes nothing. Engines may go on working on it. The exit code is 1 if',
    'anything was found. Without LEDGER, checks the one of this folder.',
  ].join('\n'),
  positionals: { max: 1 },
  async run(io, { values, positionals: [named] }) {
    const ledger = named === undefined ? await openableLedger(io, values) : resolveLedger(named, io)
    if (!ledgerExists(ledger)) throw missingLedger(ledger)
    const report = await checkLedger(ledger)
    printValue(io, values, report, reportLines(report))
    return report.violations.length === 0 ? exitCodes.done : exitCodes.failed
  },
})

export const restore = defineVerb({
  usage: 'ledger restore BACKUP [LEDGER]',
  help: [
    'Checks the ledger BACKUP and puts a copy of it in the place of LEDGER, which is kept as LEDGER.replaced-TIME. No process may have LEDGER',
    'open.',
    'On a PostgreSQL server nothing is replaced: restore to an empty schema. Without LEDGER, restores the one of this folder.',
  ].join('\n'),
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [backup = '', target] }) {
    const source = existing(backup, io)
    const to = target === undefined ? await openableLedger(io, values) : resolveLedger(target, io)
    requireSound(await checkLedger(source))
    const copied = await copyWithProgress(io, source, to, { replace: true })
    printValue(io, values, copied, summaryOf(copied))
  },
})

/** By rule, each with what it requires. */
function reportLines({ ledger, violations, counts, rules, tasks }: LedgerReport): string[] {
  const scope = `${counted(tasks, 'task')}, ${counted(rules, 'rule')}`
  if (violations.length === 0) return [`${ledger} is sound: ${scope}.`]
  const lines = ledgerRules
    .filter(({ name }) => counts[name] !== undefined)
    .flatMap(({ name, explains }) => {
      const listed = violations.filter(({ rule }) => rule === name)
      const more = (counts[name] as number) - listed.length
      const rest = more > 0 ? [`  and ${more} more`] : []
      return [`${name}: ${explains}`, ...listed.map(({ message }) => `  ${message}`), ...rest]
    })
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0)
  return [...lines, `${counted(total, 'violation')} in ${ledger} (${scope}).`]
}

/** @throws ErrandError LEDGER_CORRUPT */
function requireSound({ ledger, violations, counts }: LedgerReport): void {
  const [first] = violations
  if (first === undefined) return
  throw new ErrandError(
    'LEDGER_CORRUPT',
    `${ledger} is not restored: ${first.message} "errand ledger check" lists all that is wrong there, and "errand ledger copy" copies it all the same.`,
    { ledger, counts },
  )
}

function existing(name: string, io: CommandIo): string {
  const ledger = resolveLedger(name, io)
  if (!ledgerExists(ledger)) throw missingLedger(ledger)
  return ledger
}

/** Shows the table at hand on a line of the terminal, which it clears at the end. */
async function copyWithProgress(
  io: CommandIo,
  from: string,
  to: string,
  options: CopyOptions = {},
): Promise<CopiedLedger> {
  if (io.stderr.isTTY !== true) return await copyLedger(from, to, options)
  const clearLine = '\r\u001b[K'
  const onProgress = ({ doing, table, rows }: CopyProgress): void => {
    io.stderr.write(`${clearLine}${doing === 'copy' ? 'Copying' : 'Comparing'} ${table}: ${counted(rows, 'row')}`)
  }
  try {
    return await copyLedger(from, to, { ...options, onProgress })
  } finally {
    io.stderr.write(clearLine)
  }
}

function summaryOf({ from, to, rows, tables, engines, isContinued, written, replaced }: CopiedLedger): string[] {
  const tasks = tables['task'] ?? 0
  const what = `${counted(tasks, 'task')} (${counted(rows, 'row')} in all)`
  const part = isContinued
    ? ` It continued an earlier copy: ${counted(written, 'row')} had to be written or removed.`
    : ''
  return [
    `Copied ${what} from ${from} to ${to}, and compared all rows.${part}`,
    ...(replaced === null ? [] : [`The ledger that was there is now ${replaced}.`]),
    ...(engines === 0
      ? []
      : [
          `${counted(engines, 'engine')} worked on the original. An engine that opens the copy also runs the tasks that run there.`,
        ]),
  ]
}
