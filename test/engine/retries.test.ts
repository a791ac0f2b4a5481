// A retry policy: jitter, maximum delay, codes, and what the failure itself requests.
import { describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import type { Ids } from '../../src/core/ids.ts'
import { defineExecutor, type ExecutorTask, type Run } from '../../src/entities/executor.ts'
import type { RetryPolicy } from '../../src/entities/task-fields.ts'
import { createSequentialIds, SimulatedClock } from '../../src/testing/index.ts'
import { history, openEngine, reached, refusalOf } from './world.ts'

const start = Date.UTC(2030, 0, 1)

/** Random numbers chosen by the test. */
function chance(value: number): Ids {
  const ids = createSequentialIds()
  return { next: (prefix) => ids.next(prefix), random: () => value }
}

/** An engine whose `work` fails each attempt with the next error of the test, until none is left. */
async function setup(errors: unknown[], random = 0) {
  const clock = new SimulatedClock(start)
  const engine = await openEngine({
    clock,
    ids: chance(random),
    executors: {
      work: (_task: ExecutorTask, run: Run) => {
        if (run.attempt <= errors.length) throw errors[run.attempt - 1]
        return run.attempt
      },
    },
  })
  return { engine, clock }
}

/** The delays of a task before each of its next attempts, in milliseconds. */
async function restsOf(errors: unknown[], retry: Partial<RetryPolicy>, random = 0): Promise<number[]> {
  const { engine, clock } = await setup(errors, random)
  const task = await engine.create({ executor: 'work', retry })
  const rests: number[] = []
  for (let attempt = 2; attempt <= errors.length + 1; attempt++) {
    const now = await reached(engine, task, (each) => each.attempt === attempt || each.completedAt !== null)
    if (now.status === 'failed') break
    const rest = now.notBefore === null ? 0 : now.notBefore - clock.now()
    rests.push(rest)
    clock.increment(rest)
  }
  return rests
}

const broke = new Error('broke')

describe('the delay before the next attempt', () => {
  it('the delay before the next attempt is shortened at random, by at most its jitter', async () => {
    const retry = { maxAttempts: 3, backoffMs: 1_000, jitter: 0.5 }
    expect(await restsOf([broke, broke], retry, 0)).toEqual([1_000, 1_000])
    expect(await restsOf([broke, broke], retry, 0.5)).toEqual([750, 750])
    expect(await restsOf([broke], { ...retry, jitter: 1 }, 0.999)).toEqual([1])
    expect(await restsOf([broke], { ...retry, jitter: 0 }, 0.9)).toEqual([1_000])
  })

  it('the delay before the next attempt grows to maxBackoffMs and no further', async () => {
    const retry = { maxAttempts: 6, backoffMs: 100, backoff: 'exponential', maxBackoffMs: 350 } as const
    expect(await restsOf(Array(5).fill(broke), retry)).toEqual([100, 200, 350, 350, 350])
    expect(await restsOf([broke, broke, broke], { ...retry, jitter: 0.5 }, 1)).toEqual([50, 100, 175])
  })

  it('the delay before the next attempt is the retryAfterMs of the failure, whatever the policy and the jitter', async () => {
    const busy = new Failure('busy', { retryAfterMs: 7_000 })
    expect(await restsOf([busy, broke], { maxAttempts: 3, backoffMs: 50, jitter: 0.5 }, 1)).toEqual([7_000, 25])
    expect(await restsOf([new Failure('now', { retryAfterMs: 0 })], { maxAttempts: 2, backoffMs: 50 })).toEqual([0])
  })
})

describe('a retry policy for certain codes', () => {
  it('a retry policy for certain codes retries these and takes any other for final', async () => {
    const reset = new Failure('reset', { code: 'ECONNRESET' })
    const { engine } = await setup([reset, reset, broke])
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 9, on: ['ECONNRESET'] } })
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { message: 'broke' } })
    expect((await engine.get(task))?.attempt).toBe(3)
    const failures = (await history(engine, task.id)).filter(({ type }) => type === 'task.failed')
    expect(failures.map(({ data }) => data.willRetry)).toEqual([true, true, false])
  })

  it('a retry policy matches the codes of system errors and of time-outs', async () => {
    const system = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { engine } = await setup([system])
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 2, on: ['ECONNREFUSED'] } })
    expect(await engine.result(task)).toBe(2)
    const clock = new SimulatedClock(start)
    const slow = await openEngine({
      clock,
      executors: {
        work: (_task: ExecutorTask, run: Run) => {
          if (run.attempt === 2) return 'in time'
          clock.increment(10)
          return new Promise((_resolve, reject) => {
            run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))
          })
        },
      },
    })
    const timed = await slow.create({ executor: 'work', timeoutMs: 10, retry: { maxAttempts: 2, on: ['TIMEOUT'] } })
    expect(await slow.result(timed)).toBe('in time')
  })

  it('a retry policy for certain codes of the executor applies to tasks without one, and is replaced by that of the task', async () => {
    const engine = await openEngine({
      executors: {
        work: defineExecutor({
          retry: { maxAttempts: 3, on: ['AGAIN'] },
          run: (_task, run) => {
            if (run.attempt === 1) throw new Failure('again', { code: 'AGAIN' })
            return 'done'
          },
        }),
      },
    })
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
    const once = await engine.create({ executor: 'work', retry: { maxAttempts: 1 } })
    expect((await engine.settled(once)).status).toBe('failed')
  })
})

describe('a final failure', () => {
  it('a final failure ends the task whatever the policy, and says so; it can be retried by hand', async () => {
    const { engine } = await setup([new Failure('no such account', { code: 'NO_ACCOUNT', retry: false })])
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 9, on: ['NO_ACCOUNT'] } })
    expect(await engine.settled(task)).toEqual({
      status: 'failed',
      error: { code: 'NO_ACCOUNT', message: 'no such account', final: true },
    })
    await engine.retry(task)
    expect(await engine.result(task)).toBe(2)
  })

  it('overrides its own retryAfterMs', async () => {
    const { engine } = await setup([new Failure('never', { retry: false, retryAfterMs: 10 })])
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 9 } })
    expect((await engine.settled(task)).status).toBe('failed')
  })

  it('a final failure by engine.fail is final as well, with its code', async () => {
    const engine = await openEngine({ executors: { work: () => new Promise(() => {}) }, abortGraceMs: 0 })
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 9 } })
    await reached(engine, task, 'working')
    expect(await engine.fail(task, 'enough', { code: 'ENOUGH' })).toMatchObject({
      status: 'failed',
      attempt: 1,
      error: { code: 'ENOUGH', message: 'enough' },
    })
  })
})

describe('an invalid retry policy', () => {
  it.each([
    { maxAttempts: 0 },
    { maxAttempts: 2, jitter: 2 },
    { maxAttempts: 2, backoffMs: -1 },
    { maxAttempts: 2, maxBackoffMs: -1 },
    { maxAttempts: 2, backoff: 'linear' },
    { maxAttempts: 2, on: 'TIMEOUT' },
  ])('an invalid retry policy is refused: %j', async (retry) => {
    const { engine } = await setup([])
    await refusalOf(engine.create({ executor: 'work', retry: retry as never }), 'INVALID_INPUT')
    expect((await engine.list()).total).toBe(0)
  })
})

describe('what create takes', () => {
  it('a number is the number of attempts', async () => {
    const { engine } = await setup([new Error('first'), new Error('second'), new Error('third')])
    const task = await engine.create({ executor: 'work', retry: 3 })
    await expect(engine.result(task)).rejects.toThrow('third')
    expect(await engine.runs(task)).toHaveLength(3)
  })

  it('a number is the number of attempts of an executor and of a call too', async () => {
    let calls = 0
    const engine = await openEngine({
      executors: {
        work: defineExecutor({
          retry: 2,
          run: (_task, run) =>
            run.call(
              'flaky',
              () => {
                calls += 1
                throw new Error(`call ${calls}`)
              },
              { retry: 2 },
            ),
        }),
      },
    })
    await expect(engine.result(await engine.create({ executor: 'work' }))).rejects.toThrow('call 4')
  })

  it.each([
    ['three', 'retry: expected a number of attempts (retry: 3) or { maxAttempts, backoffMs,'],
    [0, 'retry.maxAttempts: Too small: expected number to be >=1'],
    [1.5, 'retry.maxAttempts: expected a whole number'],
  ])('refuses the retry policy %o', async (retry, message) => {
    const { engine } = await setup([])
    const refused = engine.create({ executor: 'work', retry: retry as never })
    expect((await refusalOf(refused, 'INVALID_INPUT')).message).toContain(message)
  })

  it.each([
    ['parent', 'Did you mean "parentId"?'],
    ['parent_id', 'Did you mean "parentId"?'],
    ['delay', 'Did you mean "delayMs"?'],
    ['attempts', 'Did you mean "retry"?'],
    ['every', 'A task that recurs is made by a schedule: engine.schedules.put('],
    ['cron', 'A task that recurs is made by a schedule: engine.schedules.put('],
  ])('says what there is for the field %s of other systems', async (field, hint) => {
    const { engine } = await setup([])
    const refused = engine.create({ executor: 'work', [field]: 'x' } as never)
    expect((await refusalOf(refused, 'UNKNOWN_OPTION')).message).toContain(hint)
  })

  it.each([
    ['attempts', 'create (at retry) has no option "attempts". It takes: maxAttempts,'],
    ['delay', 'create (at retry) has no option "delay". It takes: maxAttempts,'],
  ])('gives no field of a task for the option %s of its retry policy', async (option, message) => {
    const { engine } = await setup([])
    const refused = engine.create({ executor: 'work', retry: { maxAttempts: 2, [option]: 3 } as never })
    expect((await refusalOf(refused, 'UNKNOWN_OPTION')).message).toContain(message)
  })

  it('takes a date as a time', async () => {
    const { engine, clock } = await setup([])
    const task = await engine.create({ executor: 'work', notBefore: new Date(start + 5000) })
    expect(task.notBefore).toBe(start + 5000)
    await clock.advance('5s')
    expect(await engine.result(task)).toBe(1)
  })

  it.each([
    [new Date(Number.NaN), 'notBefore: expected epoch milliseconds or a valid Date, got an invalid one'],
    ['2031-01-01T00:00:00Z', 'notBefore: expected epoch milliseconds or a valid Date, got string'],
    [-1, 'notBefore: Too small: expected number to be >=0'],
  ])('says what it takes in place of the time %o', async (notBefore, message) => {
    const { engine } = await setup([])
    const refused = engine.create({ executor: 'work', notBefore: notBefore as never })
    expect((await refusalOf(refused, 'INVALID_INPUT')).message).toContain(message)
  })
})
