// The pauses of a purge between its transactions.
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { finishPurge } from '../../src/actors/purge-families.ts'
import { type Step, step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { taskRow } from '../ledger/factories.ts'

const hour = 3_600_000

it('a purge pauses for a second at most when the clock jumps by hours during a transaction', async () => {
  const ledger = await openLedger(':memory:')
  const family = step('insert a family and begin to purge it', function* (tx) {
    yield* tx.task.insert(taskRow({ id: 'root', status: 'canceled', completedAt: 1 }))
    for (let n = 0; n < 1_200; n++) {
      yield* tx.task.insert(taskRow({ id: `child-${n}`, parentId: 'root', status: 'canceled', completedAt: 1 }))
    }
    yield* tx.purge.begin([{ root: 'root', outside: [] }])
  })
  await ledger.step(family)
  const clock = new SimulatedClock()
  const purge = finishPurge({
    clock,
    read: (query) => ledger.read(query),
    async step<R>(removal: Step<R>) {
      const result = await ledger.step(removal)
      clock.increment(8 * hour)
      return result
    },
    mayGoOn: () => true,
  })
  let isOver = false
  void purge.then(() => (isOver = true))
  for (let second = 0; second < 100 && !isOver; second++) {
    await setImmediate()
    clock.increment(1_000)
  }
  expect(isOver).toBe(true)
  expect(await ledger.read((tx) => tx.purge.begun(1))).toEqual([])
  await ledger.close()
})
