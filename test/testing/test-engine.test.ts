// What a user tests with: a test moves the time of its engine, answers, sends signals, and crashes it.
import { describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Run } from '../../src/entities/executor.ts'
import { createTestEngine } from '../../src/testing/index.ts'
import { deferred } from '../engine/world.ts'

const hour = 3_600_000
const day = 24 * hour

describe('createTestEngine', () => {
  it('tests a week of sleeps, a question and two crashes', async () => {
    const sent: number[] = []
    const remind = async (_task: unknown, run: Run) => {
      for (let each = 1; each <= 7; each++) {
        await run.sleep('1d')
        await run.call('send', { each }, () => sent.push(each))
      }
      const wanted = await run.ask<boolean>('Once more?', { type: 'boolean' })
      return { sent: sent.length, wanted }
    }
    await using test = await createTestEngine({ executors: { remind }, startAt: new Date(0) })
    const task = await test.engine.create({ executor: 'remind' })
    await test.advance('3d')
    await test.crash()
    expect(sent).toEqual([1, 2, 3])
    await test.advance('4d')
    expect((await test.engine.get(task))?.status).toBe('input_required')
    await test.crash()
    await test.answer(task, true)
    expect(await test.result(task)).toEqual({ sent: 7, wanted: true })
    expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(test.clock.now()).toBe(7 * day)
  })

  it('interrupts a call that is in flight at the crash, as a kill does', async () => {
    const started: Array<ReturnType<typeof deferred<void>>> = []
    const hold = async (_task: unknown, run: Run) =>
      run.call('hold', async () => {
        const gate = deferred<void>()
        started.push(gate)
        reached.resolve()
        await gate.promise
        return started.length
      })
    let reached = deferred<void>()
    await using test = await createTestEngine({ executors: { hold }, onInterrupt: 'rerun' })
    const task = await test.engine.create({ executor: 'hold' })
    await reached.promise
    const dead = test.engine
    reached = deferred<void>()
    await test.crash()
    expect(test.engine).not.toBe(dead)
    started[0]?.resolve()
    await reached.promise
    started[1]?.resolve()
    expect(await test.result(task)).toBe(2)
    expect(await test.engine.runs(task)).toHaveLength(2)
  })

  it('lets as much time pass as a result takes, through delays between tries', async () => {
    let tries = 0
    const flaky = () => {
      tries += 1
      if (tries < 5) throw new Error('not yet')
      return tries
    }
    await using test = await createTestEngine({ executors: { flaky }, startAt: 0 })
    const retry = { maxAttempts: 5, backoffMs: hour, backoff: 'exponential' } as const
    const task = await test.engine.create({ executor: 'flaky', retry })
    expect(await test.result(task)).toBe(5)
    expect(test.clock.now()).toBeGreaterThan(hour)
  })

  it('says what a task waits for that does not end by itself', async () => {
    const wait = (_task: unknown, run: Run) => run.waitForSignal('paid')
    await using test = await createTestEngine({ executors: { wait } })
    const task = await test.engine.create({ executor: 'wait' })
    await expect(test.result(task)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringMatching(/^The task does not end by itself, or not within 52w\. .*paid/),
    })
    await test.signal(task, 'paid', { by: 'Ada' })
    expect(await test.result(task)).toEqual({ by: 'Ada' })
    await expect(test.result('task-unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('waits no longer than it may', async () => {
    const nap = (_task: unknown, run: Run) => run.sleep('3d')
    await using test = await createTestEngine({ executors: { nap }, startAt: 0 })
    const task = await test.engine.create({ executor: 'nap' })
    await expect(test.result(task, { within: '2d' })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(test.clock.now()).toBe(0)
  })

  it('passes on what createEngine and its methods refuse', async () => {
    await expect(createTestEngine({ executers: {} } as never)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
    await expect(createTestEngine({ ledger: 'a.db' } as never)).rejects.toMatchObject({
      code: 'UNKNOWN_OPTION',
      message: 'A test engine has its own ledger. Without it, use createEngine with a SimulatedClock.',
    })
    for (const startAt of [new Date(Number.NaN), '2030-01-01'])
      await expect(createTestEngine({ startAt } as never)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/^startAt is not valid: expected epoch milliseconds or a valid Date, got /),
      })
    await using test = await createTestEngine({ executors: { idle: () => 1 } })
    const task = await test.engine.create({ executor: 'idle' })
    await test.result(task)
    await expect(test.answer(task, 1)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' })
    await expect(test.signal(task, 'late')).rejects.toMatchObject({ code: 'INVALID_TRANSITION' })
  })

  it('closes beside a function that never settles, whose signal is aborted', async () => {
    const signals: AbortSignal[] = []
    const hang = (_task: unknown, run: Run) =>
      run.call('hang', (_params, { signal }) => {
        signals.push(signal)
        reached.resolve()
        return new Promise(() => {})
      })
    let reached = deferred<void>()
    const test = await createTestEngine({ executors: { hang }, onInterrupt: 'rerun' })
    await test.engine.create({ executor: 'hang' })
    await reached.promise
    reached = deferred<void>()
    await test.crash()
    await reached.promise
    await test.close()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
  })

  it('closes once, and is not there any more', async () => {
    const test = await createTestEngine({ executors: { idle: () => 1 } })
    const task = await test.engine.create({ executor: 'idle' })
    const closed = { code: 'ENGINE_CLOSED', message: expect.stringMatching(/^The test engine is closed/) }
    const crashed = test.crash()
    const closing = [test.close(), test.close()]
    await expect(test.crash()).rejects.toMatchObject(closed)
    await Promise.all([crashed, ...closing])
    await expect(test.crash()).rejects.toMatchObject(closed)
    await expect(test.result(task)).rejects.toMatchObject(closed)
    await expect(test.answer(task, 1)).rejects.toMatchObject(closed)
    await test.close()
  })

  it('passes on why the engine did not open again after a crash, and closes', async () => {
    const executors: Record<string, () => number> = { idle: () => 1 }
    const test = await createTestEngine({ executors })
    executors['idle'] = 5 as never
    await expect(test.crash()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(test.rest()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await test.close()
  })

  it('rests when nothing is due: an idle engine has only upkeep to do', async () => {
    await using test = await createTestEngine({ executors: {}, retentionMs: '1d' })
    await test.rest()
    expect(test.clock.untilNext).toBeUndefined()
  })
})

describe('timers that a test fakes', () => {
  const nap = async (_task: unknown, run: Run) => {
    await run.sleep('1h')
    return 'rested'
  }

  it('leave a test engine alone', async () => {
    vi.useFakeTimers()
    try {
      await using test = await createTestEngine({ executors: { nap } })
      const task = await test.engine.create({ executor: 'nap' })
      await test.advance('1h')
      expect(await test.engine.get(task)).toMatchObject({ status: 'completed', result: 'rested' })
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([undefined, { toFake: ['Date'] as const }])(
    'are refused by an engine on the clock of the process: %o',
    async (faked) => {
      vi.useFakeTimers(faked as never)
      try {
        await expect(createEngine({ executors: { nap } })).rejects.toMatchObject({
          code: 'INVALID_INPUT',
          message: expect.stringMatching(/timers of this process are faked.*createTestEngine/),
        })
      } finally {
        vi.useRealTimers()
      }
    },
  )
})
