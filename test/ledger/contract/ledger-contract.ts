// The ledger contract: the behaviour of a ledger that the engine relies on, as one suite that runs on every database.
import { boards } from './boards.ts'
import { cascades } from './cascades.ts'
import { claims } from './claims.ts'
import { contractWorld, type OpenedLedger, type TestWords } from './contract-world.ts'
import { dependencies } from './dependencies.ts'
import { families } from './families.ts'
import { feed } from './feed.ts'
import { guards } from './guards.ts'
import { instances } from './instances.ts'
import { lists } from './lists.ts'
import { mails } from './mails.ts'
import { memories } from './memories.ts'
import { memoryRecord } from './memory-record.ts'
import { mirrors } from './mirrors.ts'
import { purging } from './purging.ts'
import { rows } from './rows.ts'
import { runsAndCalls } from './runs-and-calls.ts'
import { schedules } from './schedules.ts'
import { signals } from './signals.ts'
import { steps } from './steps.ts'
import { strings } from './strings.ts'
import { teams } from './teams.ts'

const themes = {
  steps,
  rows,
  lists,
  families,
  dependencies,
  cascades,
  purging,
  claims,
  runsAndCalls,
  signals,
  feed,
  guards,
  strings,
  instances,
  boards,
  mails,
  mirrors,
  memories,
  memoryRecord,
  teams,
  schedules,
}

/**
 * Registers the contract's tests for one kind of ledger.
 *
 * @param open returns an empty ledger for each test
 * @param words `describe`, `it` and `expect` of the test runner
 * @example
 * import { describe, expect, it } from 'vitest'
 * ledgerContract('my ledger', async () => {
 *   const ledger = await openMyLedger()
 *   return { ledger, close: () => ledger.close() }
 * }, { describe, it, expect })
 */
export function ledgerContract(name: string, open: () => Promise<OpenedLedger>, words: TestWords): void {
  const world = contractWorld(open, words)
  words.describe(`the ledger contract on ${name}`, () => {
    for (const theme of Object.values(themes)) theme(world)
  })
}
