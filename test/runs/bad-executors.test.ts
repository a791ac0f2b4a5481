// I18: a bad executor affects only its task. Whatever it throws, rejects, returns or forgets, the process stays up, the
// slot is freed, other tasks continue. An unhandled rejection would fail these tests by itself: vitest reports it.
import { describe, expect, it } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { aborted, createWorld, gate } from './world.ts'

const unspeakable = {
  toString() {
    throw new Error('no text')
  },
}
class Unspeakable extends Error {
  override get message(): string {
    throw new Error('no message')
  }
}

describe('a misbehaving executor that', () => {
  it.each([
    ['throws undefined', () => Promise.reject(undefined), 'undefined'],
    ['throws a string', () => Promise.reject('just words'), 'just words'],
    ['throws null', () => Promise.reject(null), 'null'],
    [
      'throws synchronously',
      () => {
        throw new Error('at once')
      },
      'at once',
    ],
    ['throws an object without text', () => Promise.reject(unspeakable), 'an object that has no text'],
    ['throws an error whose message throws', () => Promise.reject(new Unspeakable()), 'an object that has no text'],
    ['throws an error with no message', () => Promise.reject(new TypeError()), 'TypeError'],
    ['throws a NUL and half a surrogate', () => Promise.reject(new Error('\u0000\ud800')), undefined],
    ['returns what has no JSON image', () => () => 10, undefined],
    [
      'returns a circle',
      () => {
        const circle: Record<string, unknown> = {}
        circle['self'] = circle
        return circle
      },
      undefined,
    ],
  ] as Array<[string, () => unknown, string | undefined]>)(
    'S3-057 %s fails its own task with a readable error, and no other task',
    async (_what, bad, message) => {
      const world = await createWorld((task) => (task.input === 'bad' ? bad() : 'fine'), { maxConcurrent: 1 })
      const [one, two] = await world.engine.create([
        { executor: 'work', input: 'bad' },
        { executor: 'work', input: 'good' },
      ])
      const outcome = await world.engine.settled(one as { id: string })
      expect(outcome.status).toBe('failed')
      if (message !== undefined) expect(outcome).toMatchObject({ error: { message } })
      expect(await world.engine.result(two as { id: string })).toBe('fine')
      expect(world.errors).toEqual([])
    },
  )

  it('a misbehaving executor that settles twice settles its task once', async () => {
    const world = await createWorld(
      () =>
        new Promise((resolve, reject) => {
          resolve('first')
          reject(new Error('second'))
          resolve('third')
        }),
    )
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('first')
  })

  it('a misbehaving executor that returns a thenable that calls back twice settles its task once', async () => {
    const thenable = Object.fromEntries([
      [
        // oxlint-disable-next-line unicorn/no-thenable -- the point of the test
        'then',
        (resolve: (value: string) => void, reject: (error: unknown) => void) => {
          resolve('first')
          reject(new Error('second'))
        },
      ],
    ])
    const world = await createWorld(() => thenable)
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('first')
  })

  it('a misbehaving executor that rejects after its slot was taken is ignored', async () => {
    const running = gate()
    const fail = gate()
    const world = await createWorld(
      async () => {
        running.resolve()
        await fail.promise
        throw new Error('late')
      },
      { abortGraceMs: 10 },
    )
    const task = await world.engine.create({ executor: 'work' })
    await running.promise
    await world.engine.cancel(task)
    await world.eventOf(task.id, 'run.closed')
    fail.resolve()
    await fail.promise
    expect(await world.engine.get(task)).toMatchObject({ status: 'canceled', error: null })
    expect(world.engine.status.get().context.slots.used).toBe(0)
    expect(world.errors).toEqual([])
  })

  it('a misbehaving executor that ignores all promises of its run causes no unhandled rejection', async () => {
    const asked = gate()
    const world = await createWorld(async (_task, run) => {
      void run.call('fails', () => Promise.reject(new Error('floating')))
      void run.call('pends', (_params, { signal }) => aborted(signal))
      void run.ask('Ignored?')
      void run.sleep(60_000)
      void run.message('assistant', 'floating')
      void run.progress(2)
      void run.wait('task-unknown')
      void run.spawn({ executor: 'no such executor' })
      asked.resolve()
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work' })
    await asked.promise
    expect(await world.engine.result(task)).toBe('done')
    await world.engine.idle()
    expect(world.errors).toMatchObject([{ code: 'CALL_INTERRUPTED', details: { calls: ['fails', 'pends'] } }])
  })

  it('a misbehaving executor that keeps its run beyond the end can start nothing with it', async () => {
    const kept = gate<Run>()
    const world = await createWorld(async (_task, run) => {
      kept.resolve(run)
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work' })
    const run = await kept.promise
    await world.engine.result(task)
    await world.engine.idle()
    expect(run.signal.aborted).toBe(true)
    for (const request of [
      run.call('late', () => 'never'),
      run.message('assistant', 'late'),
      run.ask('Late?'),
      run.sleep(1),
      run.progress(1),
      run.spawn({ executor: 'other' }),
    ]) {
      await expect(request).rejects.toMatchObject({ code: 'RUN_ENDED' })
    }
    expect(await world.engine.calls(task)).toEqual([])
    expect(await world.engine.messages(task)).toEqual([])
  })
})
