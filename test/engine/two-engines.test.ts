// Two engines over one ledger: some random sequences on a file, a planted fault, and one history by hand; test/long has more sequences and faults.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { replayed } from '../tier.ts'
import { passTime } from './two-engines/commands.ts'
import { expectFound, property } from './two-engines/property.ts'
import { leaseMs, turns, World } from './two-engines/world.ts'
import { ledgerFile } from './world.ts'

it('X-039 two engines on one ledger keep the laws in some random sequences of commands and faults', async () => {
  const file = ledgerFile()
  let opened = 0
  const { property: laws, discard } = property(() => ({ file: `${file}-${opened++}` }))
  await fc.assert(laws, { numRuns: 60, verbose: 1, ...replayed })
  await discard()
  for (let at = 0; at < opened; at++) expect(await violationsIn(`${file}-${at}`)).toEqual([])
})

it('the sequences of two engines detect a cascade that forgets what waits', () =>
  expectFound('a cascade forgets what waits'))

it('two engines on one ledger give a task that returns to the engine that hung on it one slot, when its old executor has ended', async () => {
  const world = await World.open()
  const [busy, hanging] = world.hosts
  const runsOf = (task: { id: string }) =>
    world.puppets.filter((each) => each.taskId === task.id).map((each) => each.run.number)
  const { engine } = hanging
  busy.hang()
  const task = await world.create(hanging, { stubborn: true })
  busy.wake()
  await busy.engine?.setLimits({ maxConcurrent: 1 })
  await turns(3)
  hanging.hang()
  await world.create(busy, { stubborn: false })
  await passTime(world, 2 * leaseMs)
  expect(world.audit.rows.get(task.id)).toMatchObject({ status: 'waiting', statusReason: 'interrupted', run: 1 })
  hanging.wake()
  await turns(5)
  expect(world.audit.rows.get(task.id)).toMatchObject({ status: 'working', run: 2 })
  expect(runsOf(task)).toEqual([1])
  await passTime(world, 100)
  expect(runsOf(task)).toEqual([1, 2])
  const other = await world.create(hanging, { stubborn: false })
  await turns(5)
  expect(runsOf(other)).toEqual([1])
  expect(engine?.status.get().context.slots).toEqual({ used: 2, free: 0, maxConcurrent: 2 })
  expect(world.audit.broken).toEqual([])
  await world.close()
})
