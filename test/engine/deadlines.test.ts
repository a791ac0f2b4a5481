// Deadlines: a task that has not settled by then fails for good, from any open state, on a clock that only the test
// moves.
import { describe, expect, it } from 'vitest'
import type { EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { history, ledgerFile, openEngine, puppet, reached, turns } from './world.ts'

const start = Date.UTC(2030, 0, 1)
const year = 365 * 86_400_000

async function setup<const E extends ExecutorMap>(executors: E, options: EngineOptions<E> = {}) {
  const clock = new SimulatedClock(start)
  const engine = await openEngine<E>({ executors, clock, ...options } as EngineOptions<E>)
  return { engine, clock }
}

const missed = { status: 'failed', error: { code: 'TIMEOUT', details: { deadline: start + 100 } } }

describe('a deadline', () => {
  it.each(['submitted', 'working', 'paused', 'waiting', 'input_required'] as const)(
    'a deadline fails a task that is worked on by hand and is %s, over legal edges, at that time and not before',
    async (status) => {
      const { engine, clock } = await setup({})
      const task = await engine.create({ name: 'task', deadline: start + 100 })
      if (status !== 'submitted') await engine.start(task)
      if (status === 'paused') await engine.pause(task)
      else if (status !== 'submitted' && status !== 'working') await engine.update(task, { status })
      clock.increment(99)
      await turns()
      expect((await engine.get(task))?.status).toBe(status)
      const before = (await history(engine, task.id)).at(-1)!.seq
      clock.increment(1)
      expect(await engine.settled(task)).toMatchObject(missed)
      const events = (await history(engine, task.id)).filter(({ seq }) => seq > before)
      expect(events.map(({ type, data }) => [type, data.from, data.willRetry ?? null])).toEqual([
        ...(status === 'working' ? [] : [['task.started', status, null]]),
        ['task.failed', 'working', false],
      ])
      expect(await engine.runs(task)).toEqual([])
    },
  )

  it('a deadline fails a task that was never started, blocked, held or before its notBefore, without a run', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const gate = await engine.create({ name: 'gate' })
    const tasks = [
      await engine.create({ executor: 'work', deadline: start + 100, autoStart: false }),
      await engine.create({ executor: 'work', deadline: start + 100, blockedBy: [gate.id] }),
      await engine.create({ executor: 'work', deadline: start + 100, notBefore: start + 200 }),
    ]
    clock.increment(100)
    for (const task of tasks) expect(await engine.settled(task)).toMatchObject(missed)
    clock.increment(200)
    await engine.idle()
    expect(hands.runs).toEqual([])
    expect((await engine.get(gate))?.status).toBe('submitted')
  })

  it('a deadline aborts the run, whose result comes too late, and leaves other tasks alone', async () => {
    const hands = puppet({ stubborn: true })
    const { engine, clock } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work', deadline: start + 100, retry: { maxAttempts: 5 } })
    const other = await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    const second = await hands.started(1)
    clock.increment(100)
    await held.aborted
    held.end.resolve('late')
    second.end.resolve('fine')
    expect(await engine.settled(task)).toMatchObject(missed)
    expect(await engine.result(other)).toBe('fine')
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ result: null, attempt: 1 })
  })

  it('a deadline ends what a run waits for: a question, a sleep, other tasks', async () => {
    const { engine, clock } = await setup({
      asks: (_task: ExecutorTask, run: Run) => run.ask('Go on?'),
      sleeps: (_task: ExecutorTask, run: Run) => run.sleep(1_000),
      waits: (task: ExecutorTask<string>, run: Run) => run.wait(task.input),
    })
    const open = await engine.create({ name: 'open' })
    const asks = await engine.create({ executor: 'asks', deadline: start + 100 })
    const sleeps = await engine.create({ executor: 'sleeps', deadline: start + 100 })
    const waits = await engine.create({ executor: 'waits', input: open.id, deadline: start + 100 })
    await reached(engine, asks, 'input_required')
    for (const task of [sleeps, waits]) await reached(engine, task, 'waiting')
    clock.increment(100)
    for (const task of [asks, sleeps, waits]) expect(await engine.settled(task)).toMatchObject(missed)
    expect((await engine.get(asks))?.questions).toEqual([])
    clock.increment(2_000)
    await engine.start(open)
    await engine.complete(open)
    await engine.idle()
    for (const task of [asks, sleeps, waits]) expect(await engine.runs(task)).toHaveLength(1)
  })

  it('overrides a retry policy: a delay that ends later never ends', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const retry = { maxAttempts: 9, backoffMs: 70 }
    const task = await engine.create({ executor: 'work', deadline: start + 100, retry })
    ;(await hands.started(0)).end.reject(new Error('one'))
    await reached(engine, task, (each) => each.attempt === 2)
    clock.increment(70)
    ;(await hands.started(1)).end.reject(new Error('two'))
    await reached(engine, task, (each) => each.attempt === 3)
    clock.increment(30)
    expect(await engine.settled(task)).toMatchObject(missed)
    clock.increment(1_000)
    await engine.idle()
    expect(hands.runs).toHaveLength(2)
  })

  it('a deadline that is over does not end an attempt started by hand; one that is still to come does', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const late = await engine.create({ executor: 'work', deadline: start + 100 })
    await hands.started(0)
    clock.increment(100)
    await engine.settled(late)
    expect(await engine.retry(late)).toMatchObject({ deadline: null, attempt: 2 })
    ;(await hands.started(1)).end.resolve('done')
    expect(await engine.result(late)).toBe('done')
    const failed = await engine.create({ executor: 'work', deadline: start + 300 })
    ;(await hands.started(2)).end.reject(new Error('broke'))
    await engine.settled(failed)
    expect(await engine.retry(failed)).toMatchObject({ deadline: start + 300 })
    await hands.started(3)
    clock.increment(200)
    expect(await engine.settled(failed)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
  })

  it('a deadline does nothing to a task that has settled before', async () => {
    const { engine, clock } = await setup({ work: () => 'done' })
    const task = await engine.create({ executor: 'work', deadline: start + 100 })
    expect(await engine.result(task)).toBe('done')
    const before = await history(engine, task.id)
    clock.increment(200)
    await turns()
    expect(await history(engine, task.id)).toEqual(before)
  })

  it('a deadline can be set, moved and removed while the task works; one in the past ends the task at once', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    await engine.update(task, { deadline: start + 100 })
    await engine.update(task, { deadline: start + 300 })
    clock.increment(200)
    await turns()
    expect((await engine.get(task))?.status).toBe('working')
    await engine.update(task, { deadline: null })
    clock.increment(200)
    await turns()
    expect((await engine.get(task))?.status).toBe('working')
    await engine.update(task, { deadline: start })
    clock.increment(0)
    expect((await engine.settled(task)).status).toBe('failed')
    const stillborn = await engine.create({ name: 'stillborn', deadline: 5 })
    clock.increment(0)
    expect((await engine.settled(stillborn)).status).toBe('failed')
  })

  it('a deadline fires after a restart, late rather than never', async () => {
    const ledger = ledgerFile()
    const first = await setup({}, { ledger })
    const task = await first.engine.create({ name: 'task', deadline: start + 100 })
    await first.engine.close()
    const clock = new SimulatedClock(start + 5_000)
    const engine = await openEngine({ ledger, clock })
    clock.increment(0)
    expect(await engine.settled(task)).toMatchObject(missed)
  })

  it('a deadline can be a year away', async () => {
    const { engine, clock } = await setup({})
    const task = await engine.create({ name: 'task', deadline: start + year })
    clock.increment(year - 1)
    await turns()
    expect((await engine.get(task))?.status).toBe('submitted')
    clock.increment(1)
    expect((await engine.settled(task)).status).toBe('failed')
  })

  it('a deadline triggers the policies of the parent and of dependents like any failure', async () => {
    const { engine, clock } = await setup({}, { onChildFailure: 'fail', onDependencyFailure: 'cancel' })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const task = await engine.create({ name: 'task', parentId: parent.id, deadline: start + 100 })
    const after = await engine.create({ name: 'after', blockedBy: [task.id] })
    clock.increment(100)
    await engine.settled(task)
    expect((await engine.get(parent))?.status).toBe('failed')
    expect((await engine.get(after))?.status).toBe('canceled')
  })

  it('a deadline of many tasks at the same time fails all of them', async () => {
    const { engine, clock } = await setup({})
    await engine.create(Array.from({ length: 501 }, (_, at) => ({ name: `${at}`, deadline: start + 100 })))
    clock.increment(100)
    for (let step = 0; step < 5; step++) {
      await turns()
      clock.increment(0)
    }
    expect((await engine.list({ status: 'failed', limit: 0 })).total).toBe(501)
  })
})

describe('the deadline of a group', () => {
  async function group() {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const tasks = {
      done: { executor: 'work' },
      breaks: { executor: 'work' },
      runs: { executor: 'work' },
      inner: { tasks: { waits: { executor: 'work' } }, after: 'runs' },
    }
    const made = await engine.create({ name: 'group', deadline: start + 100, tasks })
    ;(await hands.started(0)).end.resolve(1)
    ;(await hands.started(1)).end.reject(new Error('broke'))
    const held = await hands.started(2)
    await engine.settled(hands.runs[0]!.task.id)
    await engine.settled(hands.runs[1]!.task.id)
    return { engine, clock, hands, held, made }
  }

  it('the deadline of a group ends its open tasks in one step, and leaves settled ones', async () => {
    const { engine, clock, held, made } = await group()
    clock.increment(100)
    await held.aborted
    expect(await engine.settled(made)).toMatchObject(missed)
    const statuses = Object.fromEntries((await engine.subtree(made)).map(({ name, status }) => [name, status]))
    expect(statuses).toEqual({
      done: 'completed',
      breaks: 'failed',
      runs: 'canceled',
      inner: 'canceled',
      waits: 'canceled',
    })
  })

  it('the deadline of a group does not end the group again when one of its tasks is retried by hand', async () => {
    const { engine, clock, hands, held, made } = await group()
    clock.increment(100)
    await held.aborted
    await engine.settled(made)
    const breaks = (await engine.children(made)).find(({ name }) => name === 'breaks')!
    await engine.retry(breaks)
    const again = await hands.started(3)
    expect(await engine.get(made)).toMatchObject({ status: 'working', deadline: null })
    clock.increment(50)
    await turns()
    again.end.resolve('mended')
    expect(await engine.result(breaks)).toBe('mended')
  })
})
