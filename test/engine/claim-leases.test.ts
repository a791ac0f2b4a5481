// Claims with a lease, on a clock that only the test moves: an owner keeps a task by writing and loses it by silence,
// and the number of the claim, never the time, keeps a late owner out.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { counting } from './counting.ts'
import { history, ledgerFile, openEngine, reached, refusalOf, turns } from './world.ts'

const ada = { owner: 'ada', leaseMs: 100 }
const bob = { owner: 'bob', leaseMs: 100 }

/** A task claimed by ada, with an engine that works, or one that only commands. */
async function setup({ work = false } = {}) {
  const clock = new SimulatedClock()
  const engine = await openEngine({ work, clock })
  const mine = await engine.claim(await engine.create({ name: 'write it' }), ada)
  return { clock, engine, mine }
}

/** Everything that an owner can write. */
const writesOf = (engine: Engine, task: Task, token?: { owner: string; fence?: number }) => {
  const ref = token === undefined ? task : task.id
  return {
    complete: () => engine.complete(ref, 'late', token),
    fail: () => engine.fail(ref, 'late', token),
    heartbeat: () => engine.heartbeat(ref, token),
    release: () => engine.release(ref, token),
  }
}

describe('a lease of a claim', () => {
  it('a lease of a claim exists only on request; then every write must pass the fence, which the claimed task does by itself', async () => {
    const { clock, engine, mine } = await setup()
    expect(mine).toMatchObject({ fence: 1, leaseUntil: clock.now() + 100 })
    for (const write of Object.values(writesOf(engine, mine, { owner: 'ada' }))) {
      expect((await refusalOf(write, 'STALE_CLAIM')).message).toContain('given with its fence')
    }
    expect((await engine.heartbeat(mine)).owner).toBe('ada')
    expect((await engine.heartbeat(mine.id, { owner: 'ada', fence: 1 })).owner).toBe('ada')
    await refusalOf(engine.heartbeat(mine.id, { fence: 1 }), 'INVALID_INPUT')
    expect((await engine.complete(mine, 'mine')).leaseUntil).toBeNull()

    const plain = await engine.claim(await engine.create({ name: 'no lease' }), { owner: 'ada' })
    expect(plain.leaseUntil).toBeNull()
    clock.increment(1e12)
    expect(await engine.claim(null, bob)).toBeNull()
    expect((await engine.complete(plain.id, 'mine', { owner: 'ada' })).result).toBe('mine')
  })

  it('a lease of a claim is renewed by every write of the owner, and by no other', async () => {
    const { clock, engine, mine } = await setup()
    const leaseOf = async (task: Promise<Task>) => ((await task).leaseUntil as number) - clock.now()
    clock.increment(60)
    expect(await leaseOf(engine.heartbeat(mine))).toBe(100)
    clock.increment(60)
    expect(await leaseOf(engine.update(mine, { metadata: { pages: 2 } }))).toBe(100)
    clock.increment(60)
    expect(await leaseOf(engine.update(mine.id, { priority: 2 }))).toBe(40)
    expect(await leaseOf(engine.update({ ...mine, fence: mine.fence - 1 } as { id: string }, { priority: 3 }))).toBe(40)
    await refusalOf(engine.heartbeat(mine.id, { owner: 'bob', fence: 1 }), 'NOT_OWNER')
    expect(await leaseOf(engine.get(mine) as Promise<Task>)).toBe(40)
  })

  it('a lease of a claim stops with a pause and starts again with the resume', async () => {
    const { clock, engine, mine } = await setup({ work: true })
    clock.increment(90)
    expect(await engine.pause(mine.id)).toMatchObject({ status: 'paused', owner: 'ada', leaseUntil: null })
    clock.increment(10_000)
    await turns()
    expect(await engine.get(mine)).toMatchObject({ status: 'paused', owner: 'ada' })
    expect(await engine.resume(mine.id)).toMatchObject({ status: 'working', leaseUntil: clock.now() + 100 })
    clock.increment(99)
    await turns()
    expect((await engine.heartbeat(mine)).leaseUntil).toBe(clock.now() + 100)
  })

  it.each(['input_required', 'waiting'] as const)(
    'a lease of a claim stops while its owner waits (%s) and starts again afterwards',
    async (status) => {
      const { clock, engine, mine } = await setup({ work: true })
      expect(await engine.update(mine, { status })).toMatchObject({ status, owner: 'ada', leaseUntil: null })
      clock.increment(10_000)
      await turns()
      const back = status === 'waiting' ? engine.update(mine, { status: 'working' }) : engine.answer(mine, 'yes')
      expect(await back).toMatchObject({ status: 'working', owner: 'ada', leaseUntil: clock.now() + 100 })
    },
  )

  it('a lease of a claim that has expired is still renewed until the claim is closed', async () => {
    const { clock, engine, mine } = await setup()
    clock.increment(5_000)
    expect(await engine.heartbeat(mine)).toMatchObject({ owner: 'ada', leaseUntil: clock.now() + 100 })
    clock.increment(5_000)
    expect((await engine.complete(mine, 'late and welcome')).result).toBe('late and welcome')
  })
})

describe('the lease of a settled task', () => {
  it.each([
    ['with its parent', 'canceled', (engine: Engine, { parentId }: Task) => engine.cancel(parentId as string)],
    ['by its deadline', 'failed', (engine: Engine, { id }: Task) => engine.update(id, { deadline: 1 })],
    ['by its owner', 'failed', (engine: Engine, task: Task) => engine.fail(task, 'no')],
  ] as const)('the lease of a task ends when the task is %s: nothing lapses afterwards', async (_how, status, end) => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock })
    const parent = await engine.create({ name: 'parent' })
    const mine = await engine.claim(await engine.create({ name: 'write it', parentId: parent.id }), ada)
    await end(engine, mine)
    clock.increment(1)
    expect(await reached(engine, mine, status)).toMatchObject({ owner: 'ada', leaseUntil: null })
    const before = await history(engine)
    clock.increment(1_000)
    await turns()
    expect(await history(engine)).toEqual(before)
    await refusalOf(engine.heartbeat(mine), 'INVALID_TRANSITION')
  })
})

describe('a lapsed claim', () => {
  it('S4-057 a lapsed claim is closed by a working engine on time, and the task can be claimed again', async () => {
    const { clock, engine, mine } = await setup({ work: true })
    clock.increment(99)
    await turns()
    expect((await engine.get(mine))?.owner).toBe('ada')
    clock.increment(1)
    const free = await reached(engine, mine, 'waiting')
    expect(free).toMatchObject({ statusReason: 'interrupted', owner: null, ready: true, leaseUntil: null })
    const released = (await history(engine, mine.id)).find((event) => event.type === 'task.released')
    expect(released?.data).toMatchObject({ owner: 'ada', fence: 1, lapsed: true, reason: 'the lease is over' })
    expect(await engine.claim(null, bob)).toMatchObject({ id: mine.id, owner: 'bob', fence: 2 })
  })

  it('a lapsed claim is closed on time by an engine that learns of it from the feed, or at its start', async () => {
    const clock = new SimulatedClock()
    const ledger = ledgerFile()
    const hands = await openEngine({ ledger, clock, work: false })
    const [one, two] = await hands.create([{ name: 'one' }, { name: 'two' }])
    await hands.claim(one?.id as string, { owner: 'ada', leaseMs: 1_000 })
    const engine = await openEngine({ ledger, clock })
    const claimed = new Promise((resolve) => engine.subscribe('task.claimed', resolve))
    await hands.claim(two?.id as string, { owner: 'ada', leaseMs: 500 })
    await claimed
    clock.increment(500)
    await reached(engine, two?.id as string, 'waiting')
    clock.increment(500)
    await reached(engine, one?.id as string, 'waiting')
  })

  it('S4-057 a lapsed claim is closed by the next claim without a working engine, of that task or of the best one', async () => {
    const { clock, engine, mine } = await setup()
    const other = await engine.claim(await engine.create({ name: 'other', priority: 9 }), ada)
    await refusalOf(engine.claim(mine.id, bob), 'NOT_CLAIMABLE')
    expect(await engine.claim(null, bob)).toBeNull()
    clock.increment(100)
    expect((await engine.get(mine))?.owner).toBe('ada')
    expect(await engine.claim(null, bob)).toMatchObject({ id: other.id, owner: 'bob', fence: 2 })
    expect(await engine.get(mine)).toMatchObject({ status: 'waiting', owner: null, ready: true })
    clock.increment(100)
    expect(await engine.claim(other.id, { owner: 'eve' })).toMatchObject({ owner: 'eve', fence: 3 })
  })

  it('a lapsed claim is found by a claim of its task, however many have lapsed before it', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ work: false, clock })
    const tasks = await engine.create(Array.from({ length: 450 }, (_, index) => ({ name: `task ${index}` })))
    for (const task of tasks) {
      clock.increment(1)
      await engine.claim(task, { owner: 'ada', leaseMs: 1_000 })
    }
    clock.increment(1_000)
    expect(await engine.claim((tasks.at(-1) as Task).id, bob)).toMatchObject({ owner: 'bob', fence: 2 })
    const claimed = new Set<string>()
    for (let task = await engine.claim(null, bob); task !== null; task = await engine.claim(null, bob))
      claimed.add(task.id)
    expect(claimed.size).toBe(449)
  })

  it('a lapsed claim is not closed by a refused claim, which costs the same however many have lapsed', async () => {
    const clock = new SimulatedClock()
    const counted = { statements: 0 }
    const ledger = counting(await openLedger(':memory:'), 'claim', counted)
    const engine = await openEngine({ ledger, clock, work: false })
    const before = await engine.create({ name: 'before' })
    const blocked = await engine.create({ name: 'blocked', blockedBy: [before.id] })
    const refused = async () => {
      counted.statements = 0
      await refusalOf(engine.claim(blocked, { owner: 'ada' }), 'BLOCKED')
      return counted.statements
    }
    const few = await refused()
    for (let index = 0; index < 5; index++) {
      const task = await engine.create({ name: `task ${index}` })
      await engine.claim(task, { owner: 'bob', leaseMs: 1_000 })
    }
    clock.increment(2_000)
    expect(await refused()).toBe(few)
  })

  it('a lapsed claim gives the task only to a claim that matches it', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ work: false, clock })
    const task = await engine.create({ name: 'write it', role: 'writer' })
    await engine.claim(task, { ...ada, role: 'writer' })
    clock.increment(100)
    expect(await engine.claim(null, { owner: 'bob', role: 'tester' })).toBeNull()
    expect(await engine.get(task)).toMatchObject({ status: 'waiting', owner: null })
    expect((await engine.claim(null, { owner: 'bob', role: 'writer' }))?.owner).toBe('bob')
  })

  it('C-54 a lapsed claim lets its former owner write nothing, before and after another client has the task', async () => {
    const { clock, engine, mine } = await setup({ work: true })
    clock.increment(100)
    await reached(engine, mine, 'waiting')
    const refuseAll = async () => {
      for (const write of Object.values(writesOf(engine, mine))) await refusalOf(write, 'STALE_CLAIM')
      for (const write of Object.values(writesOf(engine, mine, { owner: 'ada', fence: 1 }))) {
        await refusalOf(write, 'STALE_CLAIM')
      }
    }
    await refuseAll()
    await refusalOf(engine.update(mine, { status: 'working' }), 'STALE_CLAIM')
    const theirs = await engine.claim(mine.id, { owner: 'bob' })
    await refuseAll()
    for (const status of ['completed', 'failed', 'waiting', 'input_required'] as const) {
      await refusalOf(engine.update(mine, { status }), 'STALE_CLAIM')
    }
    // Every client may still change this, and it does not renew the lease of the owner.
    expect(await engine.update(mine, { metadata: { note: 'sorry' } })).toMatchObject({ owner: 'bob', fence: 2 })
    expect((await engine.complete(theirs, 'theirs')).result).toBe('theirs')
    await refuseAll()
  })

  it('X-038 a lapse of a claim and a concurrent write of its owner end in one legal state', async () => {
    for (const first of ['claim', 'complete'] as const) {
      const { clock, engine, mine } = await setup()
      clock.increment(100)
      const claim = () => engine.claim(mine.id, bob)
      const complete = () => engine.complete(mine, 'mine')
      const [one, other] = await Promise.allSettled(first === 'claim' ? [claim(), complete()] : [complete(), claim()])
      expect([one.status, other.status]).toEqual(['fulfilled', 'rejected'])
      expect(await engine.get(mine)).toMatchObject(
        first === 'claim'
          ? { status: 'working', owner: 'bob', fence: 2 }
          : { status: 'completed', owner: 'ada', fence: 1 },
      )
    }
  })
})
