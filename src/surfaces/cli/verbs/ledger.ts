// `errand ledger copy` and `restore`.
import { type CopiedLedger, type CopyOptions, type CopyProgress, copyLedger } from '../../../ledger/copy/copy-ledger.ts'
import { type CommandIo, printValue } from '../../../terminal/io.ts'
import { ledgerExists, missingLedger, resolveLedger } from '../ledger-path.ts'
import { openableLedger } from '../trusted-ledger.ts'
import { defineVerb } from '../verb.ts'

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

export const restore = defineVerb({
  usage: 'ledger restore BACKUP [LEDGER]',
  help: [
    'Puts a copy of the ledger BACKUP in the place of LEDGER, which is kept as LEDGER.replaced-TIME. No process may have LEDGER open.',
    'On a PostgreSQL server nothing is replaced: restore to an empty schema. Without LEDGER, restores the one of this folder.',
  ].join('\n'),
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [backup = '', target] }) {
    const source = existing(backup, io)
    const to = target === undefined ? await openableLedger(io, values) : resolveLedger(target, io)
    const copied = await copyWithProgress(io, source, to, { replace: true })
    printValue(io, values, copied, summaryOf(copied))
  },
})

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
    io.stderr.write(`${clearLine}${doing === 'copy' ? 'Copying' : 'Comparing'} ${table}: ${count(rows, 'row')}`)
  }
  try {
    return await copyLedger(from, to, { ...options, onProgress })
  } finally {
    io.stderr.write(clearLine)
  }
}

function summaryOf({ from, to, rows, tables, engines, isContinued, written }: CopiedLedger): string[] {
  const tasks = tables['task'] ?? 0
  const what = `${count(tasks, 'task')} (${count(rows, 'row')} in all)`
  const part = isContinued
    ? ` It continued an earlier copy: ${count(written, 'row')} had to be written or removed.`
    : ''
  return [
    `Copied ${what} from ${from} to ${to}, and compared all rows.${part}`,
    ...(engines === 0
      ? []
      : [
          `${count(engines, 'engine')} worked on the original. An engine that opens the copy also runs the tasks that run there.`,
        ]),
  ]
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
}
