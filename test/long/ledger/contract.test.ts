// The ledger contract on SQLite in memory: alone, and behind what wraps a ledger.
import { describe, expect, it } from 'vitest'
import { redactionBy } from '../../../src/core/redact.ts'
import { redactingLedger } from '../../../src/ledger/redacting-ledger.ts'
import { createFaultyLedger, openLedger } from '../../../src/testing/index.ts'
import { ledgerContract } from '../../ledger/contract/ledger-contract.ts'

describe('X-015 X-017 SQLite in memory fulfills the ledger contract', () => {
  ledgerContract(
    'SQLite in memory',
    async () => {
      const ledger = await openLedger(':memory:')
      return { ledger, close: () => ledger.close() }
    },
    { describe, it, expect },
  )
})

ledgerContract(
  'SQLite in memory behind a hook that redacts nothing',
  async () => {
    const redaction = redactionBy((value) => value)
    const ledger = redactingLedger(await openLedger(':memory:'), redaction)
    return { ledger, close: () => ledger.close() }
  },
  { describe, it, expect },
)

ledgerContract(
  'SQLite in memory behind a faulty ledger without faults',
  async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    return { ledger, close: () => ledger.close() }
  },
  { describe, it, expect },
)
