// The ledger contract on SQLite, in a file and in memory; postgres.test.ts runs it on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { redactionBy } from '../../src/core/redact.ts'
import { redactingLedger } from '../../src/ledger/redacting-ledger.ts'
import { createFaultyLedger, ledgerContract, openLedger } from '../../src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'errand-contract-'))
let opened = 0

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('X-015 X-017 a SQLite file fulfills the ledger contract', () => {
  ledgerContract(
    'a SQLite file',
    async () => {
      opened += 1
      const ledger = await openLedger(join(folder, `${opened}.db`))
      return { ledger, close: () => ledger.close() }
    },
    { describe, it, expect },
  )
})

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
