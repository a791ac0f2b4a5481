// Nothing is lost, in some random scripts on two engines that start and stop on a failing ledger, and a planted fault; test/long has more of both.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { replayed } from '../tier.ts'
import { expectFound, property } from './level-triggered/property.ts'
import { ledgerFile } from './world.ts'

it('two engines that start and stop on a failing ledger lose nothing, publish only what is durable, and do nothing twice in some random scripts', async () => {
  const laws = property(() => ({}))
  await fc.assert(laws, { numRuns: 12, ...replayed })
})

it('two engines that start and stop on a failing ledger keep these laws on a file too', async () => {
  const file = ledgerFile()
  const laws = property(() => ({ file }))
  await fc.assert(laws, { numRuns: 1, ...replayed })
  expect(await violationsIn(file)).toEqual([])
})

it('the search detects a sleep without the time at which it ends', () =>
  expectFound('a sleep without the time of its end'))
