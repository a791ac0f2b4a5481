// What reads cost while a deep family is being purged.
import { expect, it } from 'vitest'
import { step } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { ledgerFile } from '../../engine/world.ts'
import { eventRow, taskRow } from '../factories.ts'

const levels = 5_000

it('reads of a ledger do not climb to the root of a deep family that is being purged for each of its tasks', async () => {
  const ledger = await openLedger(ledgerFile())
  const id = (depth: number) => `task-${depth}`
  const chain = step('insert a chain', function* (tx) {
    for (let depth = 0; depth < levels; depth++) {
      const parentId = depth === 0 ? null : id(depth - 1)
      yield* tx.task.insert(taskRow({ id: id(depth), parentId, depth, status: 'completed', completedAt: 1 }))
      yield* tx.event.append(eventRow({ taskId: id(depth) }))
    }
  })
  await ledger.step(chain)
  const family = await ledger.read((tx) => tx.purge.inspect(id(0), 2))
  await ledger.step(step('hide', (tx) => tx.purge.hide([family as NonNullable<typeof family>])))
  // A climb of 2,500 levels for each task takes half a minute.
  expect(await ledger.read((tx) => tx.task.list({}, 100))).toEqual([])
  expect(await ledger.read((tx) => tx.event.after(0, 100))).toEqual([])
  await ledger.close()
}, 15_000)
