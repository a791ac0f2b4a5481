// An engine with a team in a process of its own, to be killed at a step of its ledger. Its orders are one argument, and
// it prints which steps it took, if it lives to the end.
import { createEngine } from '../../src/engine/create-engine.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { type CrashPoints, createKillingLedger } from '../crash/killing-ledger.ts'
import { observingLate } from './team-faults.ts'
import { playTeamScenario, scenarioOptions } from './team-scenario.ts'

export interface TeamKillOrders extends CrashPoints {
  ledger: string
  effects: string
  /** The planted fault: observations are written outside of the transaction that records the call. */
  late?: boolean
}

const orders = JSON.parse(process.argv[2] as string) as TeamKillOrders
const inner = await openLedger(orders.ledger)
const { ledger, steps } = createKillingLedger(inner, orders)
const engine = await createEngine({
  ...scenarioOptions(orders.effects),
  ledger: orders.late ? observingLate(ledger) : ledger,
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})
await playTeamScenario(engine)
await engine.close()
await inner.close()
process.stdout.write(`${JSON.stringify({ steps: steps() })}\n`)
