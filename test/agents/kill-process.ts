// An engine with agents in a process of its own, to be killed at a step of its ledger. Its orders are one argument, and
// it prints how many steps it took, if it lives to the end.

import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { type CrashPoints, createKillingLedger } from '../crash/killing-ledger.ts'
import { answerAll, createScenarioModel, reportTask, scenarioAbilities } from './kill-scenario.ts'

export interface KillOrders extends CrashPoints {
  ledger: string
  effects: string
  careless?: boolean
}

const orders = JSON.parse(process.argv[2] as string) as KillOrders
const inner = await openLedger(orders.ledger)
const { ledger, steps } = createKillingLedger(inner, orders)
const engine = (await createEngine({
  ledger,
  model: createScenarioModel(),
  abilities: scenarioAbilities({ effects: orders.effects, careless: orders.careless ?? false }),
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})) as Engine
const task = await engine.create(reportTask)
await answerAll(engine, task.id)
await engine.close()
await inner.close()
process.stdout.write(`${JSON.stringify({ steps: steps() })}\n`)
