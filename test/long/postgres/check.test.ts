// The check of a whole ledger on a PostgreSQL server: the same rules find the same faults, and nothing in a sound ledger.
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkLedger, ledgerRules } from '../../../src/ledger/check/check-ledger.ts'
import { type Fault, faults } from '../../ledger/check/faults.ts'
import { openRichLedger } from '../../ledger/check/rich-ledger.ts'
import { createDatabase, type TestServer, testServer, withClient } from '../../postgres/server.ts'

const server = (await testServer()) as TestServer

/** At most one fault of each rule at a time, so that none hides another. */
function rounds(): Fault[][] {
  const found: Fault[][] = []
  for (const fault of faults.filter(({ onlySqlite }) => onlySqlite !== true)) {
    const round = found.findIndex((each) => each.every(({ rule }) => rule !== fault.rule))
    if (round < 0) found.push([fault])
    else found[round]?.push(fault)
  }
  return found
}

async function plant(url: string, round: readonly Fault[]): Promise<void> {
  await withClient(url, async (client) => {
    // Neither triggers nor foreign keys are checked.
    await client.query('set session_replication_role = replica')
    for (const { plant: given } of round) await client.query(typeof given === 'string' ? given : given.postgres)
  })
}

describe('The check of a ledger on a server', () => {
  let sound: string

  it('finds nothing in a sound ledger, with open runs and without', async () => {
    sound = await createDatabase(server)
    const close = await openRichLedger(sound)
    onTestFinished(close)
    const report = { violations: [], counts: {}, rules: ledgerRules.length, tasks: 36 }
    expect(await checkLedger(sound)).toMatchObject(report)
    await close()
    expect(await checkLedger(sound)).toMatchObject(report)
  })

  it.each(rounds().map((round) => ({ round, count: round.length })))('finds $count faults', async ({ round }) => {
    const url = await createDatabase(server, sound)
    await plant(url, round)
    // What is said differs where several faults concern one task.
    const found = new Set(Object.keys((await checkLedger(url)).counts))
    expect(round.filter(({ rule }) => !found.has(rule)).map(({ title }) => title)).toEqual([])
  })
})
