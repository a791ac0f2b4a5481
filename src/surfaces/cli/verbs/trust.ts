// `errand trust`: says that a ledger which lies where others can reach it, or which came with a repository, may be opened.
import { resolve } from 'node:path'
import { ErrandError } from '../../../core/errors.ts'
import { judgeLedger, listFolder, trustLedger, untrusted } from '../../../ledger/trust.ts'
import { printValue } from '../../../terminal/io.ts'
import { isLedgerFile, ledgerExists, resolveLedger } from '../ledger-path.ts'
import { defineVerb } from '../verb.ts'

export const trust = defineVerb({
  usage: 'trust [LEDGER]',
  help: [
    'Says that you know where a ledger comes from. A ledger that was found and not named, and that others can write or git has',
    'tracks, is refused until then, because its tasks would run as you. Without LEDGER: the one of this folder.',
  ].join('\n'),
  options: {},
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const ledger = given === undefined ? resolveLedger(values.ledger, io) : resolve(io.cwd, given)
    if (!isLedgerFile(ledger) || !ledgerExists(ledger)) {
      throw new ErrandError('NOT_FOUND', `There is no ledger at ${ledger}. Name the file, like .errand/ledger.db.`, {
        ledger,
      })
    }
    const trust = judgeLedger(ledger, io.env)
    if (trust.verdict === 'refused') throw untrusted(ledger, trust)
    if (!trustLedger(ledger, io.env)) {
      const folder = listFolder(io.env)
      throw new ErrandError(
        'LEDGER_UNTRUSTED',
        `It cannot be kept that the ledger is trusted: ${folder ?? 'a home folder'} cannot be written. Name the ledger with --ledger each time.`,
        { ledger, folder },
      )
    }
    printValue(io, values, { ledger }, `${ledger} is trusted.`)
  },
})
