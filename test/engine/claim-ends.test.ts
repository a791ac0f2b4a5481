// How claims end beside other things: in the instant in which a family ends, for another claim, for an executor.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { openEngine, puppet, reached, refusalOf, turns } from './world.ts'

const ada = { owner: 'ada' }

describe('the end of a claim', () => {
  it('a claim returns the task as it claimed it, even if another client has it by then', async () => {
    const engine = await openEngine({ work: false })
    const { id } = await engine.create({ name: 'task' })
    const [first, , second] = await Promise.all([
      engine.claim(id, ada),
      engine.release(id, ada),
      engine.claim(id, { owner: 'bob' }),
    ])
    expect(first).toMatchObject({ owner: 'ada', fence: 1 })
    expect(second).toMatchObject({ owner: 'bob', fence: 2 })
    await refusalOf(engine.complete(first, 'too late'), 'STALE_CLAIM')
  })

  it('a claim renews no lease of the next owner', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ work: false, clock })
    const claimed = await engine.claim((await engine.create({ name: 'task' })).id, { ...ada, leaseMs: 1000 })
    const [alive, , later] = await Promise.all([
      engine.heartbeat(claimed),
      engine.release(claimed),
      engine.claim(claimed.id, { owner: 'bob' }),
    ])
    expect([alive.owner, alive.fence, later.owner, later.fence]).toEqual(['ada', 1, 'bob', 2])
  })

  it('a lease that ends in the instant in which a sibling fails ends once, and blocks no timer', async () => {
    const clock = new SimulatedClock()
    const hands = puppet()
    const engine = await openEngine({ clock, executors: { work: hands.executor } })
    const parent = await engine.create({ name: 'parent', onChildFailure: 'cancel-siblings' })
    const slow = await engine.create({ executor: 'work', timeoutMs: 1000, parentId: parent.id })
    const claimed = await engine.create({ name: 'claimed', parentId: parent.id })
    const later = await engine.create({ executor: 'work', notBefore: clock.now() + 2000 })
    await hands.started(0)
    await engine.claim(claimed.id, { ...ada, leaseMs: 1000 })
    clock.increment(1000)
    expect(await engine.settled(slow)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    expect(await engine.settled(claimed)).toMatchObject({ status: 'canceled' })
    await turns()
    clock.increment(1000)
    expect((await hands.started(1)).task.id).toBe(later.id)
  })

  it('a suspended claim ends when the task gets an executor: its lease does not disturb the run', async () => {
    const clock = new SimulatedClock()
    const hands = puppet()
    const engine = await openEngine({ clock, executors: { work: hands.executor } })
    const claimed = await engine.claim((await engine.create({ name: 'task' })).id, { ...ada, leaseMs: 1000 })
    await engine.pause(claimed.id)
    expect(await engine.update(claimed.id, { executor: 'work' })).toMatchObject({ owner: null, fence: 1 })
    await engine.resume(claimed.id)
    const run = await hands.started(0)
    clock.increment(5000)
    await turns()
    expect(await engine.get(claimed.id)).toMatchObject({ status: 'working', leaseUntil: null })
    await refusalOf(engine.complete(claimed, 'mine'), 'STALE_CLAIM')
    run.end.resolve('done')
    expect(await engine.settled(claimed.id)).toEqual({ status: 'completed', result: 'done' })
    expect(hands.runs).toHaveLength(1)
  })

  it('a released claim leaves its task open, also when its children complete', async () => {
    const engine = await openEngine()
    const parent = await engine.create({ name: 'parent', autoComplete: true })
    const child = await engine.create({ name: 'child', parentId: parent.id })
    await engine.claim(parent, ada)
    await engine.release(parent, ada)
    await engine.complete(await engine.start(child))
    expect(await engine.get(parent)).toMatchObject({ status: 'waiting', statusReason: 'released', ready: true })
    await engine.complete(await engine.claim(parent, ada), 'all of it')
    expect(await reached(engine, parent, 'completed')).toMatchObject({ result: 'all of it' })
  })

  it('the tags of a claimed task are unique, at creation and later', async () => {
    const engine = await openEngine({ work: false })
    const task = await engine.create({ name: 'task', tags: ['a', ' a ', 'b'] })
    expect(task.tags).toEqual(['a', 'b'])
    expect((await engine.update(task, { tags: ['c', 'b', 'c'] })).tags).toEqual(['c', 'b'])
    expect(await engine.claim(null, { ...ada, tags: ['b', 'b'] })).toMatchObject({ id: task.id })
  })

  it.each(['nul \u0000 inside', 'half a pair \ud800'])(
    'a claim refuses a text that no ledger stores unchanged: %j',
    async (word) => {
      const engine = await openEngine({ work: false })
      const task = await engine.create({ name: 'task' })
      await refusalOf(engine.claim(task, { owner: word }), 'INVALID_INPUT')
      await refusalOf(engine.claim(null, { ...ada, tags: [word] }), 'INVALID_INPUT')
      await refusalOf(engine.create({ name: 'task', role: word }), 'INVALID_INPUT')
      await refusalOf(engine.create({ name: 'task', tags: [word] }), 'INVALID_INPUT')
      expect(await engine.get(task)).toMatchObject({ status: 'submitted', owner: null })
    },
  )
})
