// Parked runs that go on: in the order of admission, past those that have no room, and after the end of their engine.
import { describe, expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { turns } from '../engine/world.ts'
import { createWorld, gate, type World } from './world.ts'

interface Creates {
  create(task: object): Promise<{ id: string }>
}

/** A world with these executors; `other` is among them, and completes at once. */
async function worldOf(executors: Record<string, (task: ExecutorTask, run: Run) => unknown>, options: object = {}) {
  const given = { executors: { other: () => 'other', ...executors }, ...options }
  const world = await createWorld(() => {}, given as never)
  return { ...world, creates: world.engine as unknown as Creates, given }
}

/** The first has what it waited for and no room; the second goes on all the same, and the first when there is room. */
async function expectSecondToGoOn(
  world: Awaited<ReturnType<typeof worldOf>>,
  [first, second]: [{ id: string }, { id: string }],
  room: { resolve(): void },
): Promise<void> {
  await completeChildOf(world, first)
  await completeChildOf(world, second)
  await world.engine.result(second.id)
  expect(await world.engine.get(first)).toMatchObject({ status: 'working' })
  room.resolve()
  await world.engine.result(first.id)
}

async function completeChildOf({ engine }: World, task: { id: string }): Promise<void> {
  const [child = { id: '' }] = await engine.children(task.id)
  await engine.claim(child.id, { owner: 'ann' })
  await engine.complete(child.id, null, { owner: 'ann' })
}

const waitForChild = async (_task: unknown, run: Run) =>
  run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true })

describe('a parked run whose wait is over', () => {
  it('keeps no other from going on while its executor has no room', async () => {
    const busy = gate()
    const limited = (task: ExecutorTask, run: Run) => (task.name === 'busy' ? busy.promise : waitForChild(task, run))
    const limits = { maxConcurrent: 2, limits: { limited: 1 } }
    const world = await worldOf({ limited, free: waitForChild }, limits)
    const first = await world.creates.create({ executor: 'limited' })
    await world.eventOf(first.id, 'run.parked')
    const second = await world.creates.create({ executor: 'free' })
    await world.eventOf(second.id, 'run.parked')
    const third = await world.creates.create({ executor: 'limited', name: 'busy' })
    await world.eventOf(third.id, 'task.started')
    await expectSecondToGoOn(world, [first, second], busy)
  })

  it('keeps no other from going on while its lane is full', async () => {
    const busy = gate()
    const inLane = (task: ExecutorTask, run: Run) => (task.name === 'busy' ? busy.promise : waitForChild(task, run))
    const world = await worldOf({ work: inLane }, { maxConcurrent: 2 })
    const lane = await world.creates.create({ name: 'one at a time', concurrency: 1 })
    const first = await world.creates.create({ executor: 'work', parentId: lane.id })
    await world.eventOf(first.id, 'run.parked')
    const second = await world.creates.create({ executor: 'work' })
    await world.eventOf(second.id, 'run.parked')
    const third = await world.creates.create({ executor: 'work', name: 'busy', parentId: lane.id })
    await world.eventOf(third.id, 'task.started')
    await expectSecondToGoOn(world, [first, second], busy)
  })

  it.each(['dies', 'closes'])('goes on in the next run when its engine %s before it has a slot', async (end) => {
    const clock = new SimulatedClock()
    const work = async (_task: unknown, run: Run) => {
      const [one, two] = [await run.spawn({ name: 'one' }), await run.spawn({ name: 'two' })]
      const timedOut = run.wait(two, { inMemory: true, timeoutMs: 1_000 }).catch(({ code }: { code: string }) => code)
      return Promise.race([run.wait(one, { inMemory: true }), timedOut])
    }
    const busy = gate()
    const world = await worldOf({ work, busy: () => busy.promise }, { clock, maxConcurrent: 1 })
    const task = await world.creates.create({ executor: 'work' })
    await world.eventOf(task.id, 'run.parked')
    const inTheWay = await world.creates.create({ executor: 'busy' })
    await world.eventOf(inTheWay.id, 'task.started')
    clock.increment(1_000)
    await world.eventOf(task.id, 'timer.fired')
    const next = await world.another({ ...world.given, work: false } as never)
    if (end === 'dies') world.die()
    const closed = end === 'closes' ? world.engine.close() : undefined
    // An engine that closes ends the run that does not return by itself after the time for its shutdown.
    while (end === 'closes' && (await next.engine.get(task))?.status === 'working') {
      clock.increment(100)
      await turns(1)
    }
    busy.resolve()
    await closed
    await next.engine.work()
    expect(await next.engine.result(task.id)).toBe('TIMEOUT')
  })
})

describe('an executor that awaits engine.result of a task below its own', () => {
  it('lends its slot to it, with a signal too', async () => {
    const work = async (_task: unknown, run: Run) => {
      const child = await run.spawn({ executor: 'other' })
      return world.engine.result(child, { signal: run.signal })
    }
    const world = await worldOf({ work }, { maxConcurrent: 1 })
    const task = await world.creates.create({ executor: 'work' })
    expect(await world.engine.result(task.id)).toBe('other')
  })

  it('goes on with the reason of its own signal when that aborts', async () => {
    const own = new AbortController()
    const work = async (_task: unknown, run: Run) => {
      const child = await run.spawn({ name: 'by hand' })
      return world.engine.result(child, { signal: own.signal }).catch((reason: unknown) => reason)
    }
    const world = await worldOf({ work }, { maxConcurrent: 1 })
    const task = await world.creates.create({ executor: 'work' })
    await world.eventOf(task.id, 'run.parked')
    own.abort('enough')
    expect(await world.engine.result(task.id)).toBe('enough')
  })

  it('lends its slot also when a call of another run has created its task', async () => {
    const done = gate()
    const inner = async (_task: unknown, run: Run) => world.engine.result(await run.spawn({ executor: 'other' }))
    const outer = async (_task: unknown, run: Run) => {
      await run.call('create', async () => (await world.creates.create({ executor: 'inner' })).id)
      await done.promise
    }
    const world = await worldOf({ inner, outer }, { maxConcurrent: 2 })
    const task = await world.creates.create({ executor: 'outer' })
    const { data } = await world.eventOf(task.id, 'call.completed')
    expect(await world.engine.result(data['result'] as string)).toBe('other')
    done.resolve()
    await world.engine.result(task.id)
  })
})
