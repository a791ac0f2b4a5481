// `run.wait(tasks, { inMemory: true })`: the function stays in memory, and other tasks have its slot meanwhile.
import { expect, it, onTestFinished } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { ledgerFile } from '../engine/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { createWorld, gate, type World } from './world.ts'

/** A task that waits in memory for a child, which waits for the gate; at most one of them has a slot. */
async function parkedWorld(options: Parameters<typeof createWorld>[1] = {}) {
  const child = gate()
  const seen: string[] = []
  const work = async (_task: unknown, run: Run) => {
    seen.push('begun')
    try {
      const spawned = await run.spawn({ name: 'child', executor: 'other' })
      const result = await run.wait(spawned, { inMemory: true })
      seen.push('went on')
      return result
    } catch (error) {
      seen.push((error as { code: string }).code)
      throw error
    } finally {
      seen.push('finally')
    }
  }
  const executors = { work, other: () => child.promise.then(() => 'made') }
  const world = await createWorld(work as never, { maxConcurrent: 1, ...options, executors } as never)
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'run.parked')
  const [{ id: childId } = { id: '' }] = await world.engine.children(task.id)
  await world.eventOf(childId, 'task.started')
  return { ...world, task, child, childId, seen, work, executors }
}

async function completeByHand(engine: World['engine'], task: { id: string }): Promise<void> {
  await engine.claim(task.id, { owner: 'ann' })
  await engine.complete(task.id, null, { owner: 'ann' })
}

async function runsOf({ ledger }: World, id: string) {
  const runs = await ledger.read((tx) => tx.run.list(id))
  return runs.map(({ number, status, outcome }) => [number, status, outcome])
}

it('a run that waits in memory lends its slot to its child, and goes on without a replay', async () => {
  const world = await parkedWorld()
  const { engine, task, child, childId, seen } = world
  expect(await engine.get(task)).toMatchObject({ status: 'working' })
  expect(engine.status.get().context).toMatchObject({
    slots: { used: 1, free: 0 },
    running: [
      { taskId: task.id, parked: true },
      { taskId: childId, parked: false },
    ],
  })
  child.resolve()
  expect(await engine.result(task)).toBe('made')
  expect(seen).toEqual(['begun', 'went on', 'finally'])
  expect(await runsOf(world, task.id)).toEqual([[1, 'closed', 'completed']])
})

it('why says what a parked run waits for, and that it waits for a slot then', async () => {
  const { engine, eventOf, task, child } = await parkedWorld()
  expect((await engine.why(task)).message).toContain('running (run 1), and waits in memory for #2 child.')
  child.resolve()
  await eventOf(task.id, 'run.continued')
  expect(await engine.result(task)).toBe('made')
})

it('a run whose wait is over competes with ready tasks: by priority, then by age', async () => {
  const order: string[] = []
  const gates = { first: gate(), second: gate() }
  const executors = {
    async parent(_task: unknown, run: Run) {
      await run.wait(await run.spawn({ executor: 'child' }), { inMemory: true })
      order.push('parent')
    },
    async child() {
      await gates.first.promise
    },
    named: (task: { name: string }) => void order.push(task.name),
  }
  const world = await createWorld(() => {}, { maxConcurrent: 1, executors } as never)
  const engine = world.engine as never as { create(task: object): Promise<{ id: string }>; idle(): Promise<void> }
  const parent = await engine.create({ executor: 'parent', priority: 5 })
  await world.eventOf(parent.id, 'run.parked')
  const [child] = await world.engine.children(parent.id)
  await world.eventOf((child as { id: string }).id, 'task.started')
  await engine.create({ name: 'low', executor: 'named', priority: 1 })
  await engine.create({ name: 'high', executor: 'named', priority: 9 })
  gates.first.resolve()
  await world.eventOf(parent.id, 'task.completed')
  await engine.idle()
  expect(order).toEqual(['high', 'parent', 'low'])
})

it('a parked run is canceled with its reason, and its function gets it', async () => {
  const world = await parkedWorld()
  await world.engine.cancel(world.task)
  await world.eventOf(world.task.id, 'run.closed')
  expect(world.seen).toEqual(['begun', 'RUN_ENDED', 'finally'])
  expect(await runsOf(world, world.task.id)).toEqual([[1, 'closed', 'canceled']])
})

it('a parked run is paused, and its task resumes with the wait', async () => {
  const { engine, eventOf, task, child, seen } = await parkedWorld()
  await engine.pause(task)
  await eventOf(task.id, 'run.closed')
  child.resolve()
  await engine.resume(task)
  expect(await engine.result(task)).toBe('made')
  expect(seen).toEqual(['begun', 'RUN_ENDED', 'finally', 'begun', 'went on', 'finally'])
})

it('when its engine closes, a parked run leaves an ordinary wait behind, and its function is left alone', async () => {
  const world = await parkedWorld()
  const { engine, ledger, task, child, seen } = world
  const other = await world.another({ executors: world.executors, work: false } as never)
  await engine.close()
  expect(await ledger.read((tx) => tx.task.get(task.id))).toMatchObject({ status: 'waiting', crashes: 0 })
  expect(await runsOf(world, task.id)).toEqual([[1, 'closed', 'waiting']])
  expect(seen).toEqual(['begun'])
  child.resolve()
  await other.engine.work()
  expect(await other.engine.result(task)).toBe('made')
})

it('when its engine dies, a parked run leaves an ordinary wait behind, which is no crash', async () => {
  const world = await parkedWorld()
  const { task, child, seen, executors } = world
  world.die()
  child.resolve()
  const next = await world.another({ executors } as never)
  const { data } = await next.eventOf(task.id, 'task.waiting')
  expect(data).toMatchObject({ waits: [{ kind: 'wait' }] })
  expect(await next.engine.result(task)).toBe('made')
  expect(seen).toEqual(['begun', 'begun', 'went on', 'finally'])
  const left = await world.ledger.read((tx) => tx.task.get(task.id))
  expect(left?.crashes).toBe(0)
})

it('a wait in memory times out', async () => {
  const clock = new SimulatedClock()
  const work = async (_task: unknown, run: Run) => {
    const child = await run.spawn({ name: 'by hand' })
    return run.wait(child, { inMemory: true, timeoutMs: 1_000 }).catch((error: { code: string }) => error.code)
  }
  const { engine, eventOf } = await createWorld(work, { clock, maxConcurrent: 1 })
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'run.parked')
  clock.increment(1_000)
  expect(await engine.result(task)).toBe('TIMEOUT')
})

it('the time limit of a run does not count while it is parked, and begins anew', async () => {
  const clock = new SimulatedClock()
  const done = gate()
  const work = async (_task: unknown, run: Run) => {
    await run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true })
    done.resolve()
    await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)))
  }
  const { engine, eventOf } = await createWorld(work, { clock })
  const task = await engine.create({ executor: 'work', timeoutMs: 1_000 })
  await eventOf(task.id, 'run.parked')
  clock.increment(5_000)
  const [child] = await engine.children(task)
  await completeByHand(engine, child as never)
  await done.promise
  clock.increment(999)
  expect(await engine.get(task)).toMatchObject({ status: 'working' })
  clock.increment(1)
  await expect(engine.result(task)).rejects.toMatchObject({
    details: { error: { code: 'TIMEOUT', message: 'Run 1 took longer than 1000 ms' } },
  })
})

it('a request of a parked function waits for a slot', async () => {
  const own = gate()
  const order: string[] = []
  const work = async (_task: unknown, run: Run) => {
    const child = await run.spawn({ name: 'by hand' })
    const called = own.promise.then(() => run.call('look', () => order.push('looked')))
    await run.wait(child, { inMemory: true })
    await called
    return order
  }
  const busy = gate()
  const other = async () => {
    await busy.promise
    order.push('other')
  }
  const { engine, eventOf } = await createWorld(work, { maxConcurrent: 1, executors: { work, other } } as never)
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'run.parked')
  const inTheWay = await engine.create({ executor: 'other' })
  await eventOf(inTheWay.id, 'task.started')
  own.resolve()
  await eventOf(task.id, 'task.unblocked')
  busy.resolve()
  await eventOf(task.id, 'run.continued')
  // It has made its request, and is parked again.
  await eventOf(task.id, 'run.parked', ({ data }) => data['waits'] !== undefined)
  const [child] = await engine.children(task)
  await completeByHand(engine, child as never)
  expect(await engine.result(task)).toEqual(['other', 'looked'])
})

it('a run that also waits for an answer is suspended', async () => {
  const work = async (_task: unknown, run: Run) => {
    const child = await run.spawn({ name: 'by hand' })
    return Promise.all([run.wait(child, { inMemory: true }), run.ask('Go on?')])
  }
  const { engine, eventOf } = await createWorld(work)
  const task = await engine.create({ executor: 'work' })
  await eventOf(task.id, 'task.input_required')
  const [child] = await engine.children(task)
  await completeByHand(engine, child as never)
  await engine.answer(task, 'yes')
  expect(await engine.result(task)).toEqual([null, 'yes'])
})

it('a hundred parents in one slot wait in memory for their children, and the ledger is sound', async () => {
  const work = async (_task: unknown, run: Run) =>
    run.wait([await run.spawn({ executor: 'other' }), await run.spawn({ executor: 'other' })], { inMemory: true })
  const file = ledgerFile()
  const ledger = await openLedger(file)
  onTestFinished(() => ledger.close())
  const { engine } = await createWorld(work, { maxConcurrent: 1 }, ledger)
  const tasks = await Promise.all(Array.from({ length: 100 }, () => engine.create({ executor: 'work' })))
  for (const task of tasks) expect(await engine.result(task)).toEqual(['other', 'other'])
  await engine.idle()
  expect(engine.status.get().context).toMatchObject({ slots: { used: 0 }, running: [] })
  expect(await violationsIn(file)).toEqual([])
})

it('a clock that tests drive does not wait for a parked run', async () => {
  const clock = new SimulatedClock()
  const work = async (_task: unknown, run: Run) =>
    run.wait(await run.spawn({ name: 'by hand' }), { inMemory: true, timeoutMs: 3_600_000 }).catch(({ code }) => code)
  const { engine } = await createWorld(work, { clock })
  const task = await engine.create({ executor: 'work' })
  await clock.advance('1h')
  expect(await engine.result(task)).toBe('TIMEOUT')
})
