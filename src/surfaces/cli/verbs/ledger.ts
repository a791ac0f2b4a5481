// `errand ledger`: the verbs for whole ledgers.
import { misuse } from '../../terminal/arguments.ts'
import { defineVerb, verbTable } from '../verb.ts'

const ledgerVerbs = verbTable({
  copy: { summary: 'copy a ledger, also while engines work on it', load: () => import('./ledger/whole-ledgers.ts') },
  check: { summary: 'list what violates the invariants of a ledger', load: () => import('./ledger/whole-ledgers.ts') },
  restore: { summary: 'put a copy in the place of a ledger', load: () => import('./ledger/whole-ledgers.ts') },
})

export const ledger = defineVerb({
  usage: `ledger ${Object.keys(ledgerVerbs).join('|')}`,
  help: 'Copies, checks and restores whole ledgers. A ledger is a file, or the URL of a PostgreSQL server.',
  positionals: { max: 0 },
  verbs: ledgerVerbs,
  async run() {
    throw misuse(`Say what to do: errand ledger ${Object.keys(ledgerVerbs).join(', ')}.`)
  },
})
