// The ledger contract on a SQLite file; postgres.test.ts runs it on PostgreSQL in PGlite, and test/long on all other ledgers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openLedger } from '../../src/testing/index.ts'
import { ledgerContract } from './contract/ledger-contract.ts'

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
