// Time: time-outs, delays between attempts, earliest starts and sleeps, on a clock that only the test moves.

import { describe, expect, it } from 'vitest'
import { SimulatedClock } from 'xstate'
import { Failure } from '../../src/core/errors.ts'
import type { EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { history, ledgerFile, openEngine, puppet, reached, refusalOf, turns } from './world.ts'

async function setup<const E extends ExecutorMap>(executors: E, options: EngineOptions<E> = {}) {
  const clock = new SimulatedClock()
  clock.set(1_000_000)
  const engine = await openEngine<E>({ executors, clock, ...options } as EngineOptions<E>)
  return { engine, clock }
}

describe('a time-out', () => {
  it('S3-048 a time-out fails a run that takes too long, with its reason; others continue', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const slow = await engine.create({ executor: 'work', timeoutMs: 50 })
    const other = await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    await hands.started(1)
    clock.increment(49)
    expect((await engine.get(slow))?.status).toBe('working')
    clock.increment(1)
    await held.aborted
    expect(await engine.settled(slow)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    expect((await engine.get(other))?.status).toBe('working')
    hands.runs[1]?.end.resolve('done')
    expect(await engine.result(other)).toBe('done')
  })

  it("a time-out is the executor's when the task has none, and starts anew with each run", async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: defineExecutor({ timeoutMs: 50, run: hands.executor }) })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    clock.increment(40)
    await engine.pause(task)
    await engine.resume(task)
    await hands.started(1)
    clock.increment(40)
    await turns()
    expect((await engine.get(task))?.status).toBe('working')
    clock.increment(10)
    expect((await engine.settled(task)).status).toBe('failed')
  })

  it('a time-out of a call fails only the call', async () => {
    const aborted = Promise.withResolvers<void>()
    const { engine, clock } = await setup({
      work: async (_task: ExecutorTask, run: Run) => {
        const refusal = await refusalOf(
          run.call(
            'slow',
            (_params, { signal }) =>
              new Promise(() => {
                signal.addEventListener('abort', () => aborted.resolve())
                clock.increment(20)
              }),
            { timeoutMs: 20 },
          ),
          'TIMEOUT',
        )
        return refusal.message
      },
    })
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toContain('took longer than 20 ms')
    await aborted.promise
    expect((await engine.calls(task))[0]).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
  })

  it('a time-out uses up an attempt like any failure', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work', timeoutMs: 50, retry: { maxAttempts: 2 } })
    await hands.started(0)
    clock.increment(50)
    const second = await hands.started(1)
    expect(second.run.attempt).toBe(2)
    second.end.resolve('done')
    expect(await engine.result(task)).toBe('done')
  })
})

describe('a retry policy', () => {
  it('S3-058 a retry policy moves WORKING → FAILED → SUBMITTED, delays, and ends with the last attempt', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const retry = { maxAttempts: 3, backoffMs: 100, backoff: 'exponential' } as const
    const task = await engine.create({ executor: 'work', retry })
    ;(await hands.started(0)).end.reject(new Error('one'))
    await reached(engine, task, (each) => each.attempt === 2)
    expect(await engine.why(task)).toMatchObject({ reason: 'timer', at: 1_000_100 })
    clock.increment(99)
    expect(hands.runs).toHaveLength(1)
    clock.increment(1)
    ;(await hands.started(1)).end.reject(new Error('two'))
    await reached(engine, task, (each) => each.attempt === 3)
    clock.increment(200)
    ;(await hands.started(2)).end.reject(new Error('three'))
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'three' } })
    const events = await history(engine, task.id)
    expect(events.filter(({ type }) => type === 'task.failed').map(({ data }) => data.willRetry)).toEqual([
      true,
      true,
      false,
    ])
    expect(events.filter(({ type }) => type === 'task.retried').map(({ data }) => data.attempt)).toEqual([2, 3])
  })

  it('a retry policy of the executor applies to tasks without one, and a final failure ends the task at once', async () => {
    let runs = 0
    const { engine } = await setup({
      tries: defineExecutor({
        retry: { maxAttempts: 3 },
        run: () => {
          if (++runs < 3) throw new Error('again')
          return runs
        },
      }),
      final: defineExecutor({
        retry: { maxAttempts: 3 },
        run: () => {
          throw new Failure('never', { retry: false, code: 'NEVER' })
        },
      }),
    })
    expect(await engine.result(await engine.create({ executor: 'tries' }))).toBe(3)
    const final = await engine.create({ executor: 'final' })
    expect(await engine.settled(final)).toEqual({
      status: 'failed',
      error: { code: 'NEVER', message: 'never', final: true },
    })
    expect((await engine.get(final))?.attempt).toBe(1)
  })

  it('a retry policy delays as long as the failure requests', async () => {
    const { engine, clock } = await setup({
      work: (_task: ExecutorTask, run: Run) => {
        if (run.attempt === 1) throw new Failure('busy', { retryAfterMs: 7_000 })
        return 'done'
      },
    })
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 2, backoffMs: 1 } })
    expect((await reached(engine, task, (each) => each.attempt === 2)).notBefore).toBe(1_007_000)
    clock.increment(7_000)
    expect(await engine.result(task)).toBe('done')
  })

  it('S3-066 a retry policy does not count as settled between attempts', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 2, backoffMs: 10 } })
    let outcome: unknown
    const settled = engine.settled(task).then((each) => (outcome = each))
    ;(await hands.started(0)).end.reject(new Error('broke'))
    await reached(engine, task, (each) => each.attempt === 2)
    expect(outcome).toBeUndefined()
    clock.increment(10)
    ;(await hands.started(1)).end.resolve(1)
    await settled
    expect(outcome).toEqual({ status: 'completed', result: 1 })
  })

  it('a retry policy of a call retries it inside the run', async () => {
    let tries = 0
    const { engine } = await setup({
      work: (_task: ExecutorTask, run: Run) =>
        run.call(
          'flaky',
          () => {
            if (++tries < 3) throw new Error('broke')
            return tries
          },
          { retry: { maxAttempts: 3 } },
        ),
    })
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toBe(3)
    expect(await engine.calls(task)).toHaveLength(1)
    expect((await engine.get(task))?.attempt).toBe(1)
  })
})

describe('notBefore', () => {
  it('notBefore holds a task until then, whatever its priority', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    const late = await engine.create({ executor: 'work', name: 'late', notBefore: 1_000_050, priority: 9 })
    expect(late).toMatchObject({ ready: false, notBefore: 1_000_050 })
    await engine.create({ executor: 'work', name: 'now' })
    expect((await hands.started(0)).task.name).toBe('now')
    clock.increment(50)
    expect((await hands.started(1)).task.name).toBe('late')
  })

  it('notBefore in the past sets no timer, and a new one replaces it', async () => {
    const hands = puppet()
    const { engine, clock } = await setup({ work: hands.executor })
    expect((await engine.create({ executor: 'work', notBefore: 5, autoStart: false })).notBefore).toBeNull()
    const task = await engine.create({ executor: 'work', name: 'moved', notBefore: 2_000_000 })
    await engine.update(task, { notBefore: 1_000_010 })
    clock.increment(10)
    expect((await hands.started(0)).task.name).toBe('moved')
  })

  it('notBefore survives the engine, and fires late rather than never', async () => {
    const ledger = ledgerFile()
    const first = await setup({ work: () => 'done' }, { ledger })
    const task = await first.engine.create({ executor: 'work', notBefore: 1_000_050 })
    await first.engine.close()
    const hands = puppet()
    const second = await setup({ work: hands.executor }, { ledger })
    expect(hands.runs).toEqual([])
    second.clock.increment(60)
    ;(await hands.started(0)).end.resolve('done')
    expect(await second.engine.result(task)).toBe('done')
  })
})

describe('run.sleep', () => {
  it('S3-060 S3-061 run.sleep ends the run and frees its slot; the next run continues after it', async () => {
    const log: string[] = []
    const { engine, clock } = await setup(
      {
        work: async (_task: ExecutorTask, run: Run) => {
          log.push(`run ${run.number}`)
          await run.sleep(1_000)
          return 'woke'
        },
        other: () => 'other',
      },
      { maxConcurrent: 1 },
    )
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'waiting')
    expect(await engine.result(await engine.create({ executor: 'other' }))).toBe('other')
    expect(await engine.why(task)).toMatchObject({ reason: 'timer', at: 1_001_000 })
    clock.increment(1_000)
    expect(await engine.result(task)).toBe('woke')
    expect(log).toEqual(['run 1', 'run 2'])
  })

  it('run.sleep in parallel ends with the longest, and a second round sleeps again', async () => {
    const { engine, clock } = await setup({
      work: async (_task: ExecutorTask, run: Run) => {
        await Promise.all([run.sleep(10), run.sleep(30)])
        await run.sleep(10)
        return 'woke'
      },
    })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'waiting')
    for (const [ms, status] of [
      [10, 'waiting'],
      [20, 'waiting'],
      [10, 'completed'],
    ] as const) {
      clock.increment(ms)
      await turns(30)
      expect((await engine.get(task))?.status).toBe(status)
    }
    expect(await engine.result(task)).toBe('woke')
  })

  it('run.sleep refuses an invalid duration', async () => {
    const { engine } = await setup({ work: (_task: ExecutorTask, run: Run) => run.sleep(-1) })
    expect(await engine.settled(await engine.create({ executor: 'work' }))).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_INPUT' },
    })
  })

  it.each([['sleep'], ['question']])('a wait that ends just as its run is suspended wakes it: %s', async (kind) => {
    // The timer fires in the very commit that suspends the run: a run that misses it would sleep forever.
    const ledger = await openLedger(':memory:')
    const clock = new SimulatedClock()
    const outer = delegateLedger(ledger, {
      step(step) {
        if (step.name === 'suspend') clock.increment(10)
        return ledger.step(step)
      },
    })
    const engine = await openEngine({
      ledger: outer,
      clock,
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          const short = kind === 'sleep' ? run.sleep(10) : run.ask('Go on?', null, { default: 'yes', timeoutMs: 10 })
          await Promise.race([short, run.sleep(10_000_000)])
          return 'woke'
        },
      },
    })
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toBe('woke')
    await engine.close()
    await ledger.close()
  })
})
