// Events only wake what acts: an engine that misses one, or receives it twice, does the same. Each event of a family is dropped and doubled in
// turn, for everything in the engine that follows all tasks.
import { afterEach, expect, it, vi } from 'vitest'
import { Feed } from '../../src/actors/feed.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openEngine } from './world.ts'

afterEach(() => vi.restoreAllMocks())

/** Hands events on to listeners as often as `times` says: by their number, from 0. */
function handingOn(times: (n: number) => number): { count(): number } {
  const { listen } = Feed.prototype
  let most = 0
  vi.spyOn(Feed.prototype, 'listen').mockImplementation(function (this: Feed, listener) {
    let n = 0
    const passOn = (event: TaskEvent): void => {
      for (let left = times(n); left > 0; left--) listener(event)
      most = Math.max(most, ++n)
    }
    return listen.call(this, passOn)
  })
  return { count: () => most }
}

/** A parent that spawns, waits, also in memory, asks and sleeps; a child that fails once; one that is canceled, and with it the task that comes after. */
async function outcome(): Promise<unknown[]> {
  const engine = await openEngine({
    maxConcurrent: 2,
    executors: {
      parent: async (_task: ExecutorTask, run: Run) => {
        const child = await run.spawn({ executor: 'flaky', retry: { maxAttempts: 2 } })
        const [result] = (await run.wait([child])) as unknown[]
        await run.wait(await run.spawn({ executor: 'flaky', retry: { maxAttempts: 2 } }), { inMemory: true })
        const answer = await run.ask('Go on?', null, { timeoutMs: 5, default: 'yes' })
        await run.sleep(5)
        return { result, answer }
      },
      flaky: (_task: ExecutorTask, run: Run) => {
        if (run.attempt === 1) throw new Error('once')
        return 'well'
      },
      endless: (_task: ExecutorTask, run: Run) =>
        new Promise((_resolve, reject) => {
          run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))
        }),
    },
  })
  const parent = await engine.create({ executor: 'parent' })
  const endless = await engine.create({ executor: 'endless' })
  const after = await engine.create({ executor: 'flaky', blockedBy: [endless.id], onDependencyFailure: 'cancel' })
  const settled = await engine.settled(parent)
  await engine.cancel(endless)
  const outcomes = [settled, await engine.settled(endless), await engine.settled(after)]
  await engine.idle()
  expect(engine.status.get().context.slots.used).toBe(0)
  await engine.close()
  return outcomes
}

const expected = [
  { status: 'completed', result: { result: 'well', answer: 'yes' } },
  { status: 'canceled' },
  { status: 'canceled' },
]

it('an engine that misses any one event of a family, or receives it twice, brings all its tasks to the same end', async () => {
  const whole = handingOn(() => 1)
  expect(await outcome()).toMatchObject(expected)
  const events = whole.count()
  vi.restoreAllMocks()
  expect(events).toBeGreaterThan(20)
  for (let nth = 0; nth < events; nth++) {
    for (const times of [0, 2]) {
      handingOn((n) => (n === nth ? times : 1))
      expect(await outcome(), `event ${nth + 1} came ${times} times`).toMatchObject(expected)
      vi.restoreAllMocks()
    }
  }
})
