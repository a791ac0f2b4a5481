// A deleted lock file proves nothing: it may have been tidied up. The owner continues for as long as its lease holds.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/index.ts'
import { ledgerFile, openEngine, puppet } from './world.ts'

it('a task whose engine has lost its lock file is not run twice', async () => {
  const file = ledgerFile()
  const clock = new SimulatedClock()
  const hands = puppet()
  const owner = await openEngine({ ledger: file, clock, executors: { work: hands.executor } })
  const task = await owner.create({ executor: 'work' })
  const held = await hands.started(0)
  const locks = readdirSync(`${file}-locks`)
  expect(locks.length).toBe(1)
  for (const name of locks) rmSync(join(`${file}-locks`, name))
  // An engine that starts checks at once for what dead engines have left.
  const other = await openEngine({ ledger: file, clock, executors: { work: hands.executor } })
  expect(await other.get(task.id)).toMatchObject({ status: 'working', run: 1 })
  held.end.resolve('once')
  expect(await owner.result(task.id)).toBe('once')
  expect([(await owner.runs(task.id)).length, hands.runs.length]).toEqual([1, 1])
})
