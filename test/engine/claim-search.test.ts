// Claims that must look at many claimable tasks which do not match them.
import { expect, it, onTestFinished } from 'vitest'
import { awaitWork } from '../../src/board/team/await-work.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { Request } from '../../src/ledger/statement.ts'
import { openLedger } from '../../src/testing/index.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { taskRow } from '../ledger/factories.ts'
import { driveOn, migrated } from '../ledger/sqlite/migrated.ts'
import { openEngine } from './world.ts'

/** More than a step looks at. */
const others = 2_100

async function openBacklog(clock = new SimulatedClock(), ledger?: Ledger) {
  const engine = await openEngine({ work: false, clock, ...(ledger === undefined ? {} : { ledger }) })
  for (let made = 0; made < others; made += 700)
    await engine.create(Array.from({ length: 700 }, () => ({ name: 'other', tags: ['other'], priority: 1 })))
  return engine
}

it('a claim by a tag finds the matching tasks behind thousands of others, the best first, and null after them', async () => {
  const engine = await openBacklog()
  await engine.create([
    { name: 'third', tags: ['a'] },
    { name: 'second', tags: ['a', 'b'] },
    { name: 'first', tags: ['a'], priority: 1 },
  ])
  const claim = async () => (await engine.claim(null, { owner: 'ann', tags: ['a'] }))?.name ?? null
  expect((await engine.claim(null, { owner: 'ann', tags: ['b'] }))?.name).toBe('second')
  expect([await claim(), await claim(), await claim()]).toEqual(['first', 'third', null])
})

it('of several claims that search at once, each gets another task, and one too many gets none', async () => {
  const engine = await openBacklog()
  await engine.create(Array.from({ length: 30 }, (_, n) => ({ name: `task ${n}`, tags: ['a'] })))
  const claims = Array.from({ length: 31 }, (_, n) => engine.claim(null, { owner: `owner ${n}`, tags: ['a'] }))
  const claimed = (await Promise.all(claims)).map((task) => task?.name ?? 'none')
  expect(new Set(claimed).size).toBe(31)
})

it('a claim that searches takes a task whose lease is over', async () => {
  const clock = new SimulatedClock()
  const engine = await openBacklog(clock)
  await engine.create({ name: 'mine', tags: ['a'] })
  await engine.claim(null, { owner: 'ann', tags: ['a'], leaseMs: 1_000 })
  expect(await engine.claim(null, { owner: 'bob', tags: ['a'] })).toBe(null)
  clock.increment(1_000)
  expect((await engine.claim(null, { owner: 'bob', tags: ['a'] }))?.name).toBe('mine')
})

it('the lease of a claim begins when the task is claimed, however long its search has taken', async () => {
  const clock = new SimulatedClock()
  const inner = await openLedger(':memory:')
  let searchMs = 0
  const ledger = delegateLedger(inner, {
    async read(query, reader) {
      const found = await inner.read(query, reader)
      clock.increment(searchMs)
      return found
    },
  })
  const engine = await openBacklog(clock, ledger)
  onTestFinished(() => inner.close())
  await engine.create({ name: 'mine', tags: ['a'] })
  searchMs = 5_000
  const claimed = await engine.claim(null, { owner: 'ann', tags: ['a'], leaseMs: 2_000 })
  searchMs = 0
  expect(claimed?.leaseUntil).toBe(clock.now() + 2_000)
})

it('board:claim_next and board:wait find tasks behind thousands that do not match', async () => {
  const engine = await openBacklog()
  await engine.create([
    { name: 'claimed', tags: ['a'] },
    { name: 'waited for', tags: ['a'] },
  ])
  const { task } = (await engine.bus.call('board:claim_next', { as: 'ann', tags: ['a'] })) as { task: object }
  expect(task).toMatchObject({ subject: 'claimed' })
  expect(await awaitWork(engine, { as: 'ann', tags: ['a'], idleTimeoutMs: 0 })).toMatchObject({
    task: { subject: 'waited for' },
  })
})

it('a step of a claim looks at a limited number of tasks, each statement at a thousand', async () => {
  const { tx, drive, connection } = await migrated()
  for (let n = 0; n < 5_000; n++) drive(tx.task.insert(taskRow({ id: `task-${n}`, claimable: true, priority: n % 3 })))
  const seen: Request[] = []
  expect(driveOn(connection, tx.task.claimable({ tags: ['a'] }, 1, 2_000), seen)).toBe(undefined)
  expect(seen.length).toBeLessThan(5)
  expect(driveOn(connection, tx.task.claimable({ tags: ['a'] }), seen)).toEqual([])
  expect(seen.every(({ sql }) => sql.endsWith(' limit +?'))).toBe(true)
  expect(Math.max(...seen.map(({ parameters }) => parameters.at(-1) as number))).toBe(1_000)
})
