// Slots: which task runs next, how many at once, and that every way out of WORKING frees the slot.
import { describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, typesOf, untilAborted } from './world.ts'

/** An executor that records the order of its runs and how many are open at once. */
function recorder() {
  const order: string[] = []
  let running = 0
  const seen = { most: 0 }
  return {
    order,
    seen,
    executor: async (task: ExecutorTask) => {
      order.push(task.name)
      running++
      seen.most = Math.max(seen.most, running)
      // A few turns in which others could start.
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
      running--
      return task.name
    },
  }
}

describe('the scheduler', () => {
  it('S3-037 S3-044 S3-045 the engine runs a ready task by itself, from SUBMITTED through WORKING to COMPLETED with its result', async () => {
    let given: { name: string; signal: boolean } | undefined
    const engine = await openEngine({
      executors: {
        work: (task: ExecutorTask, run: { signal: AbortSignal }) => {
          given = { name: task.name, signal: run.signal instanceof AbortSignal }
          return { answer: 42 }
        },
      },
    })
    const task = await engine.create({ executor: 'work', name: 'a' })
    expect(await engine.result(task)).toEqual({ answer: 42 })
    expect(given).toEqual({ name: 'a', signal: true })
    expect((await history(engine, task.id)).map(({ data }) => data.status)).toEqual([
      'submitted',
      'working',
      'completed',
    ])
    expect(await engine.get(task)).toMatchObject({ result: { answer: 42 }, error: null })
  })

  it('S3-038 S3-057 the engine records why an executor failed, whatever it threw', async () => {
    const engine = await openEngine({
      maxConcurrent: 1,
      executors: {
        throws: () => {
          throw new TypeError('broke')
        },
        rejects: () => Promise.reject(new Failure('no money', { code: 'NO_MONEY', details: { balance: 0 } })),
        text: () => Promise.reject('only a text'),
        nothing: () => Promise.reject(undefined),
      },
    })
    const errors = []
    for (const executor of ['throws', 'rejects', 'text', 'nothing'] as const)
      errors.push(await engine.settled(await engine.create({ executor })))
    expect(errors).toEqual([
      { status: 'failed', error: { code: 'TASK_FAILED', message: 'broke' } },
      { status: 'failed', error: { code: 'NO_MONEY', message: 'no money', details: { balance: 0 } } },
      { status: 'failed', error: { code: 'TASK_FAILED', message: 'only a text' } },
      { status: 'failed', error: { code: 'TASK_FAILED', message: 'undefined' } },
    ])
  })

  it('S3-039 the engine never runs more tasks at once than maxConcurrent, and runs all of them in the end', async () => {
    const { executor, seen } = recorder()
    const engine = await openEngine({ maxConcurrent: 3, executors: { work: executor } })
    const tasks = await engine.create(Array.from({ length: 40 }, () => ({ executor: 'work' })))
    await engine.idle()
    expect(seen.most).toBe(3)
    expect((await engine.list({ status: 'completed' })).total).toBe(tasks.length)
  })

  it('S3-039 the engine never runs more tasks at once than maxConcurrent across its executors', async () => {
    const { executor, seen, order } = recorder()
    const names = ['a', 'b', 'c', 'd', 'e']
    const executors = Object.fromEntries(names.map((name) => [name, executor]))
    const engine = await openEngine({ maxConcurrent: 2, executors })
    await engine.create(names.map((name) => ({ executor: name, name })) as never)
    await engine.idle()
    expect(seen.most).toBe(2)
    expect(order.toSorted()).toEqual(names)
  })

  it('S3-036 S3-040 S3-062 an engine with one slot runs one task after the other, by priority, then in the order of creation', async () => {
    const { executor, order, seen } = recorder()
    const engine = await openEngine({ maxConcurrent: 1, executors: { work: executor }, autoStart: false })
    for (const [name, priority] of [
      ['c', 0],
      ['a', 9],
      ['d', 0],
      ['b', 9],
      ['e', -1],
    ] as const)
      await engine.create({ executor: 'work', name, priority })
    await engine.startHeld()
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(seen.most).toBe(1)
  })

  it('S3-036 the engine starts an urgent task before those that have waited longer, across executors', async () => {
    const { executor, order } = recorder()
    const first = puppet()
    const engine = await openEngine({
      maxConcurrent: 1,
      executors: { one: executor, two: executor, first: first.executor },
    })
    await engine.create({ executor: 'first' })
    await first.started(0)
    await engine.create({ executor: 'one', name: 'early' })
    await engine.create({ executor: 'two', name: 'urgent', priority: 1 })
    await engine.create({ executor: 'two', name: 'late' })
    first.runs[0]?.end.resolve(null)
    await engine.idle()
    expect(order).toEqual(['urgent', 'early', 'late'])
  })

  it('S3-049 an executor at its limit does not delay the tasks of other executors', async () => {
    const narrow = puppet()
    const { executor, seen } = recorder()
    const engine = await openEngine({
      maxConcurrent: 4,
      limits: { narrow: 1 },
      executors: { narrow: narrow.executor, wide: defineExecutor({ concurrency: 2, run: executor }) },
    })
    const narrows = await engine.create(Array.from({ length: 3 }, () => ({ executor: 'narrow', priority: 9 })))
    await narrow.started(0)
    const wides = await engine.create(Array.from({ length: 6 }, () => ({ executor: 'wide' })))
    await Promise.all(wides.map((task) => engine.settled(task)))
    expect(seen.most).toBe(2)
    expect(narrow.runs).toHaveLength(1)
    for (let index = 0; index < 3; index++) (await narrow.started(index)).end.resolve(null)
    await Promise.all(narrows.map((task) => engine.settled(task)))
  })

  it('S3-042 S3-043 S3-056 the engine skips tasks that are held, before notBefore, canceled, deleted or settled', async () => {
    const { executor, order } = recorder()
    const blocker = puppet()
    const engine = await openEngine({ maxConcurrent: 1, executors: { work: executor, blocker: blocker.executor } })
    await engine.create({ executor: 'blocker' })
    await blocker.started(0)
    const [runs, canceled, deleted, held] = await engine.create([
      { executor: 'work', name: 'runs' },
      { executor: 'work', name: 'canceled' },
      { executor: 'work', name: 'deleted' },
      { executor: 'work', name: 'held', autoStart: false },
    ])
    await engine.cancel(canceled!)
    await engine.delete(deleted!)
    blocker.runs[0]?.end.resolve(null)
    await engine.settled(runs!)
    await engine.idle()
    expect(order).toEqual(['runs'])
    expect((await engine.get(held!))?.status).toBe('submitted')
    expect((await engine.start(held!)).id).toBe(held!.id)
    await engine.settled(held!)
    expect(order).toEqual(['runs', 'held'])
  })

  it('S3-057 S3-061 every way out of WORKING frees the slot of the task', async () => {
    const hands = puppet()
    const engine = await openEngine({ maxConcurrent: 1, executors: { work: hands.executor } })
    const outer = await engine.create({ name: 'by hand' })
    const ways: Array<[string, (index: number, id: string) => Promise<unknown>]> = [
      ['returned', async (index) => hands.runs[index]?.end.resolve(null)],
      ['threw', async (index) => hands.runs[index]?.end.reject(new Error('broke'))],
      ['paused', (_index, id) => engine.pause(id)],
      ['canceled', (_index, id) => engine.cancel(id)],
      ['failed', (_index, id) => engine.fail(id, 'enough')],
      ['completed', (_index, id) => engine.complete(id)],
      ['deleted', (_index, id) => engine.delete(id)],
      ['asked', async (index) => void hands.runs[index]?.run.ask('Go on?')],
      ['waited', async (index) => void hands.runs[index]?.run.wait(outer)],
    ]
    for (const [index, [way, leave]] of ways.entries()) {
      const task = await engine.create({ executor: 'work', name: way })
      expect((await hands.started(index)).task.name).toBe(way)
      await leave(index, task.id)
    }
    const last = await engine.create({ executor: 'work' })
    ;(await hands.started(ways.length)).end.resolve('ran')
    expect(await engine.result(last)).toBe('ran')
  })

  it('S3-051 X-042 the slot of an executor that ignores its signal is freed when the grace period is over', async () => {
    const stubborn = puppet({ stubborn: true })
    const engine = await openEngine({ maxConcurrent: 1, abortGraceMs: 20, executors: { work: stubborn.executor } })
    const first = await engine.create({ executor: 'work', name: 'first' })
    const held = await stubborn.started(0)
    await engine.cancel(first, 'enough')
    await held.aborted
    const second = await engine.create({ executor: 'work', name: 'second' })
    const next = await stubborn.started(1)
    expect(next.task.name).toBe('second')
    held.end.resolve('too late')
    next.end.resolve('in time')
    expect(await engine.result(second)).toBe('in time')
    expect(await engine.get(first)).toMatchObject({ status: 'canceled', statusReason: 'enough', result: null })
  })

  it('tasks without an executor and groups take no slot', async () => {
    const { executor } = recorder()
    const engine = await openEngine({ maxConcurrent: 1, executors: { work: executor } })
    await engine.start(await engine.create({ name: 'by hand' }))
    const group = await engine.create({ name: 'group', tasks: { a: { executor: 'work' }, b: { executor: 'work' } } })
    expect((await engine.settled(group)).status).toBe('completed')
    expect(engine.status.get().context.slots.used).toBe(0)
  })

  it('S3-046 createEngine refuses an invalid limit of tasks or executors', async () => {
    for (const maxConcurrent of [0, -1, 1.5, Number.NaN, '3' as never])
      await refusalOf(openEngine({ maxConcurrent }), 'INVALID_INPUT')
    await refusalOf(openEngine({ executors: { work: () => null }, limits: { work: 0 } }), 'INVALID_INPUT')
    const refusal = await refusalOf(
      openEngine({ executors: { work: () => null }, limits: { wrok: 1 } as never }),
      'UNKNOWN_EXECUTOR',
    )
    expect(refusal.details).toMatchObject({ executor: 'wrok', nearest: 'work' })
  })
})

describe('engine.schedule', () => {
  it('S3-041 S3-042 engine.startHeld starts held tasks, and returns them when the engine is idle', async () => {
    const { executor } = recorder()
    const engine = await openEngine({ executors: { work: executor }, autoStart: false })
    const [one, two] = await engine.create([{ executor: 'work' }, { executor: 'work' }])
    await engine.create({ name: 'by hand' })
    const done = await engine.startHeld()
    expect(done.map(({ id, status }) => [id, status])).toEqual([
      [one?.id, 'completed'],
      [two?.id, 'completed'],
    ])
    expect(await engine.startHeld()).toEqual([])
  })

  it('engine.schedule starts a thousand held tasks in pieces, between which others run', async () => {
    const engine = await openEngine({ executors: { work: () => 1 }, autoStart: false })
    const held = await engine.create(Array.from({ length: 1_000 }, () => ({ executor: 'work' })))
    const done = await engine.startHeld()
    expect(new Set(done.map(({ id, status }) => `${id} ${status}`))).toEqual(
      new Set(held.map(({ id }) => `${id} completed`)),
    )
    const types = typesOf(await history(engine))
    expect(types.indexOf('task.started')).toBeLessThan(types.lastIndexOf('task.updated'))
  })
})

describe('a limit below the length of the queue', () => {
  it('a slot that is freed while tasks are admitted does not stay empty', async () => {
    const open = { now: 0, most: 0 }
    const work = async () => {
      open.most = Math.max(open.most, ++open.now)
      await turns(1)
      open.now--
    }
    const engine = await openEngine({ maxConcurrent: 100, limits: { work: 3 }, executors: { work } })
    const tasks = await engine.create(Array.from({ length: 40 }, () => ({ executor: 'work' as const })))
    for (const task of tasks) await engine.result(task, { timeoutMs: 10_000 })
    expect(open).toEqual({ now: 0, most: 3 })
  })
})

describe('the status of slots', () => {
  it('engine.status lists the running tasks with their slots, and reports each change', async () => {
    const hands = puppet()
    const engine = await openEngine({ maxConcurrent: 2, executors: { work: hands.executor } })
    const received: number[] = []
    const watching = engine.status.select(({ slots }) => slots.used).subscribe((used) => received.push(used))
    expect(engine.status.get().context).toMatchObject({
      slots: { used: 0, free: 2, maxConcurrent: 2 },
      running: [],
      working: true,
    })
    const task = await engine.create({ executor: 'work', name: 'a' })
    await hands.started(0)
    expect(engine.status.get().context.running).toEqual([
      { taskId: task.id, name: 'a', executor: 'work', run: 1, since: expect.any(Number) as number, parked: false },
    ])
    hands.runs[0]?.end.resolve(null)
    await engine.idle()
    watching.unsubscribe()
    expect(received).toEqual(expect.arrayContaining([1, 0]))
    expect(received.at(-1)).toBe(0)
  })
})

describe('engine.idle', () => {
  it('engine.idle waits for running tasks and timers, and not for held, asking, canceled or foreign ones', async () => {
    const hands = puppet()
    const engine = await openEngine({
      executors: { work: hands.executor, sleeps: (_task: ExecutorTask, run: Run) => run.sleep(5) },
    })
    await engine.idle()
    await engine.create({ executor: 'work', autoStart: false })
    await engine.cancel(await engine.create({ executor: 'work', notBefore: Date.now() + 3_600_000 }))
    const asking = await engine.create({ executor: 'work' })
    void (await hands.started(0)).run.ask('Go on?')
    await reached(engine, asking, 'input_required')
    const sleeper = await engine.create({ executor: 'sleeps' })
    await engine.idle()
    expect((await engine.get(sleeper))?.status).toBe('completed')
    expect((await engine.get(asking))?.status).toBe('input_required')
  })

  it('engine.idle rejects when the engine is closed', async () => {
    const engine = await openEngine({ executors: { work: untilAborted } })
    await engine.create({ executor: 'work' })
    const idle = engine.idle()
    const refusal = refusalOf(idle, 'ENGINE_CLOSED')
    await engine.close()
    await refusal
  })
})
