// Waiting for other tasks: all, any, outcomes, time-outs; a waiting task takes no slot, and its children are spawned
// once.

import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import type { WaitOptions } from '../../src/entities/wait-options.ts'
import { openEngine, reached, refusalOf } from './world.ts'

/** A task that waits for two tasks worked on by hand. */
async function setup(options: WaitOptions = {}) {
  const clock = new SimulatedClock()
  const engine = await openEngine({
    clock,
    maxConcurrent: 1,
    executors: { waits: (task: ExecutorTask<string[]>, run: Run) => run.wait(task.input, options) },
  })
  const [one, two] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
  const waiter = await engine.create({ executor: 'waits', input: [one!.id, two!.id] })
  await reached(engine, waiter, 'waiting')
  const end = async (task: { id: string }, result: unknown) => {
    await engine.start(task.id)
    await engine.complete(task.id, result)
  }
  return { engine, clock, one: one!, two: two!, waiter, end }
}

describe('run.wait', () => {
  it('S3-060 run.wait for all returns the results in order when the last task has completed', async () => {
    const { engine, one, two, waiter, end } = await setup()
    await engine.idle()
    expect(await engine.why(waiter)).toMatchObject({ reason: 'children', tasks: [one.id, two.id] })
    await end(two, 2)
    expect(await engine.get(waiter)).toMatchObject({ status: 'waiting', ready: false })
    expect((await engine.why(waiter)).tasks).toEqual([one.id])
    await end(one, 1)
    expect(await engine.result(waiter)).toEqual([1, 2])
  })

  it('run.wait continues for a task that failed and was retried meanwhile', async () => {
    const { engine, one, two, waiter, end } = await setup({ settled: true })
    await engine.start(one.id)
    await engine.fail(one.id, 'first try')
    await engine.retry(one.id)
    await end(two, 2)
    await engine.idle()
    expect(await engine.get(waiter)).toMatchObject({ status: 'waiting', ready: false })
    expect((await engine.why(waiter)).tasks).toEqual([one.id])
    await end(one, 1)
    expect(await engine.result(waiter, { timeoutMs: 5_000 })).toEqual([
      { status: 'completed', result: 1 },
      { status: 'completed', result: 2 },
    ])
    expect((await engine.runs(waiter)).length).toBeLessThan(5)
  })

  it('run.wait continues for a task that had failed before it began and is retried meanwhile', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string[]>, run: Run) => run.wait(task.input, { settled: true }) },
    })
    const one = await engine.create({ name: 'one' })
    const two = await engine.create({ name: 'two' })
    await engine.start(one)
    await engine.fail(one, 'first try')
    const waiter = await engine.create({ executor: 'waits', input: [one.id, two.id] })
    await reached(engine, waiter, 'waiting')
    await engine.retry(one)
    await engine.start(two)
    await engine.complete(two, 2)
    await engine.idle()
    expect(await engine.why(waiter)).toMatchObject({ reason: 'children', tasks: [one.id] })
    await engine.start(one)
    await engine.complete(one, 1)
    expect(await engine.result(waiter, { timeoutMs: 5_000 })).toMatchObject([{ result: 1 }, { result: 2 }])
  })

  it('run.wait for all fails with the first task that does not complete', async () => {
    const { engine, two, waiter } = await setup()
    await engine.cancel(two.id, 'not needed')
    expect(await engine.settled(waiter)).toMatchObject({
      status: 'failed',
      error: {
        code: 'CHILD_FAILED',
        message: expect.stringContaining(`Task #${two.seq} (two), which this task waits for, was canceled.`),
        details: { taskId: two.id, outcome: { status: 'canceled' } },
      },
    })
  })

  it('run.wait fails with the error of the child as its cause, with the stack', async () => {
    const breaks = () => {
      throw new RangeError('out of paper')
    }
    const parent = async (_task: ExecutorTask, run: Run) => run.wait(await run.spawn({ executor: 'breaks' } as never))
    const engine = (await openEngine({ executors: { breaks, parent } })) as unknown as Engine
    const task = await engine.create({ executor: 'parent' })
    await engine.settled(task)
    const [child] = (await engine.children(task)) as [Task]
    expect((await engine.get(task))?.error).toMatchObject({
      code: 'CHILD_FAILED',
      message: expect.stringContaining(`Task #${child.seq} (breaks), which this task waits for, failed: out of paper`),
      cause: { name: 'RangeError', message: 'out of paper', stack: expect.stringContaining('waits.test.ts') },
    })
  })

  it('run.wait for outcomes throws nothing', async () => {
    const { engine, one, two, waiter, end } = await setup({ settled: true })
    await engine.start(two.id)
    await engine.fail(two.id, 'broke')
    await end(one, 1)
    expect(await engine.result(waiter)).toEqual([
      { status: 'completed', result: 1 },
      { status: 'failed', error: { code: 'TASK_FAILED', message: 'broke' } },
    ])
  })

  it('run.wait for any ends with the first result, after a failure too', async () => {
    const { engine, one, two, waiter, end } = await setup({ mode: 'any' })
    await engine.cancel(two.id)
    expect((await engine.get(waiter))?.status).toBe('waiting')
    await end(one, 1)
    expect(await engine.result(waiter)).toEqual([1, null])
  })

  it('run.wait fails with TIMEOUT when it takes too long', async () => {
    const { engine, clock, waiter } = await setup({ timeoutMs: 50 })
    clock.increment(50)
    expect(await engine.settled(waiter)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
  })

  it('run.wait for a deleted task ends as for a canceled one', async () => {
    const { engine, one, two, waiter, end } = await setup({ settled: true })
    await engine.delete(one.id)
    await end(two, 2)
    expect(await engine.result(waiter)).toEqual([
      { status: 'canceled', statusReason: 'deleted' },
      { status: 'completed', result: 2 },
    ])
  })

  it('run.wait for settled tasks, or for none, does not end the run', async () => {
    const engine = await openEngine({
      executors: {
        work: async (task: ExecutorTask<string>, run: Run) => [
          await run.wait(task.input),
          await run.wait([]),
          await run.wait([], { mode: 'any', settled: true }),
          run.number,
        ],
      },
    })
    const done = await engine.start(await engine.create({ name: 'done' }))
    await engine.complete(done, 7)
    expect(await engine.result(await engine.create({ executor: 'work', input: done.id }))).toEqual([7, [], [], 1])
  })

  it('run.wait that could never end is refused with its path: for itself, a parent, or a task that waits for it', async () => {
    const engine = await openEngine({
      executors: { waits: (task: ExecutorTask<string | null>, run: Run) => run.wait(task.input ?? task.id) },
    })
    const own = await engine.settled(await engine.create({ executor: 'waits', input: null }))
    expect(own).toMatchObject({ status: 'failed', error: { code: 'CYCLE' } })
    const parent = await engine.start(await engine.create({ name: 'parent' }))
    const child = await engine.create({ executor: 'waits', input: parent.id, parentId: parent.id })
    expect(await engine.settled(child)).toMatchObject({
      error: { code: 'CYCLE', details: { path: [child.id, parent.id, child.id] } },
    })
    const blocker = await engine.create({ executor: 'waits', autoStart: false })
    const after = await engine.create({ name: 'after', blockedBy: [blocker.id] })
    await engine.update(blocker, { input: after.id })
    await engine.start(blocker)
    expect(await engine.settled(blocker)).toMatchObject({
      error: { code: 'CYCLE', details: { path: [blocker.id, after.id, blocker.id] } },
    })
    expect(await engine.settled(await engine.create({ executor: 'waits', input: 'task-unknown' }))).toMatchObject({
      error: { code: 'NOT_FOUND' },
    })
  })
})

describe('a parent that waits for its spawned children', () => {
  it('S3-060 S3-061 X-025 a parent that waits for its spawned children does not deadlock with one slot, and spawns once however often it runs', async () => {
    const runs: number[] = []
    const engine = await openEngine({
      maxConcurrent: 1,
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          runs.push(run.number)
          const children = await run.spawn([
            { executor: 'child', input: 1 },
            { executor: 'child', input: 2 },
          ])
          const single = await run.spawn({ executor: 'child', input: 3 })
          return run.wait([...children, single])
        },
        child: (task: ExecutorTask<number>) => task.input * 10,
      },
    })
    const parent = await engine.create({ executor: 'parent' })
    expect(await engine.result(parent)).toEqual([10, 20, 30])
    expect(runs).toEqual([1, 2])
    const children = await engine.children(parent)
    expect(children.map(({ parentId, status }) => [parentId, status])).toEqual(Array(3).fill([parent.id, 'completed']))
  })

  it('a parent that waits for its spawned children may set dependencies between them, and is refused what create refuses', async () => {
    const engine = await openEngine({
      executors: {
        parent: async (_task: ExecutorTask, run: Run) => {
          await refusalOf(run.spawn({ executor: 'unknown' }), 'UNKNOWN_EXECUTOR')
          await refusalOf(run.spawn({ nmae: 'x' } as never), 'UNKNOWN_OPTION')
          const first = await run.spawn({ executor: 'child' })
          const second = await run.spawn({ executor: 'child', blockedBy: [first.id] })
          return run.wait([first, second])
        },
        child: async (_task: ExecutorTask, run: Run) => (await run.dependencies()).map(({ result }) => result),
      },
    })
    expect(await engine.result(await engine.create({ executor: 'parent' }))).toEqual([[], [[]]])
  })
})
