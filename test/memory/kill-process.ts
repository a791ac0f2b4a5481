// An engine in its own process that consolidates a ledger level by level and dies before or after one of its steps. If it survives, it
// reports the number of steps.

import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { type CrashPoints, createKillingLedger } from '../crash/killing-ledger.ts'
import { levels } from './kill-story.ts'

interface KillOrders extends CrashPoints {
  ledger: string
  taskIds: string[]
}

const orders = JSON.parse(process.argv[2] as string) as KillOrders
const inner = await openLedger(orders.ledger)
const { ledger, steps } = createKillingLedger(inner, orders)
const engine = (await createEngine({ ledger, work: false })) as Engine
for (const [, consolidate] of levels(engine, orders.taskIds)) await consolidate()
await engine.close()
await inner.close()
process.stdout.write(`${JSON.stringify({ steps: steps() })}\n`)
