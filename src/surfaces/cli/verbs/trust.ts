// `errand trust`: allows opening a ledger that errand found by itself and that this user's errand did not create.
import { ErrandError } from '../../../core/errors.ts'
import { isLedgerFile } from '../../../ledger/find-ledger.ts'
import { shownLedger } from '../../../ledger/open-ledger.ts'
import { judgeLedger, recordFolder, trustLedger, untrusted } from '../../../ledger/trust.ts'
import { printValue } from '../../terminal/io.ts'
import { ledgerExists, resolveLedger } from '../ledger-path.ts'
import { defineVerb } from '../verb.ts'

export const trust = defineVerb({
  usage: 'trust [LEDGER]',
  help: [
    'Allows opening a ledger whose origin you know. Until then, errand refuses a ledger that it found by itself and did not create for you,',
    'because its tasks run with your permissions. Without LEDGER, trusts the one of this folder.',
  ].join('\n'),
  options: {},
  positionals: { max: 1 },
  async run(io, { values, positionals: [given] }) {
    const named = resolveLedger(given ?? values.ledger, io)
    const ledger = shownLedger(named)
    if (!isLedgerFile(named) || !ledgerExists(named)) {
      throw new ErrandError('NOT_FOUND', `There is no ledger at ${ledger}. Name the file, like .errand/ledger.db.`, {
        ledger,
      })
    }
    const trust = judgeLedger(ledger, io.env)
    if (trust.verdict === 'refused') throw untrusted(ledger, trust)
    if (!(await trustLedger(ledger, io.env))) {
      const folder = recordFolder(io.env)
      throw new ErrandError(
        'LEDGER_UNTRUSTED',
        `Cannot record that the ledger is trusted: ${folder ?? 'a home folder'} is not writable. Name the ledger with --ledger each time.`,
        { ledger, folder },
      )
    }
    printValue(io, values, { ledger }, `${ledger} is trusted.`)
  },
})
