// What a client learns of the engines on a ledger.
import { expect, it, onTestFinished } from 'vitest'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { openEngine, refusalOf } from '../engine/world.ts'

it('engine:instances lists the engines on the ledger, newest first, and which of them work, are silent, lost or ended', async () => {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const now = Date.now()
  const row = { pid: 7, host: 'elsewhere boot pids', leaseUntil: now + 3_600_000, endedAt: null }
  await inner.step({
    name: 'instances',
    *decide(tx) {
      yield* tx.instance.insert({ ...row, id: 'ended', startedAt: now - 5, endedAt: now - 1 })
      yield* tx.instance.insert({ ...row, id: 'lost', startedAt: now - 4 })
      yield* tx.instance.insert({ ...row, id: 'silent', startedAt: now - 3, leaseUntil: now - 1 })
      yield* tx.instance.insert({ ...row, id: 'working', startedAt: now - 2 })
    },
  })
  const ledger = delegateLedger(inner, { isAlive: async (id) => (id === 'lost' ? 'dead' : 'alive') })
  const engine = await openEngine({ ledger, work: false })
  const { instances } = await engine.bus.call('engine:instances', {})
  expect(instances.map(({ id, state }) => [id, state])).toEqual([
    ['working', 'working'],
    ['silent', 'silent'],
    ['lost', 'lost'],
    ['ended', 'ended'],
  ])
  expect(instances[0]).toMatchObject({ pid: 7, host: 'elsewhere', startedAt: now - 2, endedAt: null, own: false })
  expect((await engine.bus.call('engine:instances', { limit: 1 })).instances).toHaveLength(1)
  await refusalOf(
    engine.bus.call('engine:instances', {}, { caller: { surface: 'http', taskId: 'task-1' } }),
    'FORBIDDEN',
  )
})

it('engine:instances marks the engine that answers', async () => {
  const engine = await openEngine({ executors: { plain: () => 'done' } })
  await engine.settled(await engine.create({ executor: 'plain' }))
  const { instances } = await engine.bus.call('engine:instances', {})
  expect(instances).toEqual([
    expect.objectContaining({ id: engine.instanceId, pid: process.pid, state: 'working', own: true }),
  ])
})
