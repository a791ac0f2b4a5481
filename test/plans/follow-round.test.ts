// How a round is followed: looked at when something happened, but not more often than it can bear.
import { expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { Notifier } from '../../src/core/notifier.ts'
import type { Engine } from '../../src/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { followRound, RoundFeed } from '../../src/plans/follow-round.ts'
import { readRound } from '../../src/plans/prepare-round.ts'
import { withMark } from '../../src/plans/round.ts'
import { observing, RoundView } from '../../src/terminal/round-view.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'
import { taskOf } from '../surfaces/cli/task-of.ts'

const plan = planOf('tasks: { a: { ask: x }, b: { ask: y } }')
const question = { id: 'q', question: '?', for: 'person' as const, schema: null, askedAt: 0, dueAt: null }

/** A round whose tasks a test can change, on an engine that counts how often it is asked. Each look takes 100 ms. */
function setup(fields: Partial<Task>) {
  let now = 0
  const looks: number[] = []
  let whys = 0
  let waiting: (() => void) | undefined
  const clock: Clock = {
    now: () => now,
    setTimeout(late, ms) {
      waiting = () => {
        now += ms
        late()
      }
      return 0
    },
    clearTimeout: () => {},
  }
  const mark = { generation: 0, edges: 0, definition: '', folder: '', invocation: '', held: false }
  const tasks = ['a', 'b'].map((path) =>
    taskOf({ name: path, key: `r/${path}`, metadata: withMark({}, { ...mark, path }), ...fields }),
  )
  const bell = new Notifier()
  const engine = {
    status: {
      get: () => ({ context: { working: true, running: [] } }),
      subscribe: () => ({ unsubscribe: () => {} }),
    },
    subscribe: () => () => {},
    async list({ keyPrefix }: { keyPrefix: string }) {
      if (keyPrefix.endsWith('+')) return { tasks: [], total: 0, next: null }
      looks.push(now)
      now += 100
      return { tasks: structuredClone(tasks), total: 2, next: null }
    },
    async why() {
      whys++
      return { reason: 'held', at: null }
    },
  } as unknown as Engine
  const view = new RoundView(plan, { newest: new Map(), nextGeneration: 1 })
  const reporter = { ownsScreen: false, event() {}, end() {} }
  const controller = new AbortController()
  const feed = new RoundFeed(engine)
  const { signal } = controller
  const ended = followRound({ engine, round: 'r', feed, observer: observing(view, reporter), signal, bell, clock })
  /** Lets the rests pass until the round is over. */
  const elapse = async () => {
    let over = false
    void ended.then(() => (over = true))
    for (; !over; await settle()) waiting?.()
  }
  return { engine, tasks, bell, looks, ended, elapse, whys: () => whys, stop: () => controller.abort() }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('V-03 a mark counts only on the task that was made under its name', async () => {
  const { engine, tasks } = setup({ status: 'completed' })
  const [first, second] = tasks as [Task, Task]
  first.metadata = second.metadata
  expect([...(await readRound(engine, 'r')).newest]).toMatchObject([['b', { task: { id: second.id } }]])
})

test('a round of open questions is over after one look, and no task is asked for its reason', async () => {
  const { ended, looks, whys } = setup({ status: 'input_required', questions: [question] })
  await ended
  expect({ looks, whys: whys() }).toEqual({ looks: [0], whys: 0 })
})

test('a task that does not tell what it rests for is asked', async () => {
  const { ended, whys } = setup({ status: 'submitted' })
  await ended
  expect(whys()).toBe(2)
})

test('however often the bell rings, the next look comes after a rest, and one answers for all', async () => {
  const { bell, looks, tasks, elapse } = setup({ status: 'working' })
  await settle()
  for (let ring = 0; ring < 50; ring++) {
    bell.notify()
    await settle()
  }
  expect(looks).toEqual([0])
  for (const task of tasks) task.status = 'completed'
  await elapse()
  // The last rings came before it, and may have told of what it had not read.
  expect(looks.slice(0, 2)).toEqual([0, 500])
  expect(looks.length).toBeLessThanOrEqual(3)
})

test('a round is not over while something happens to it', async () => {
  const { bell, looks, elapse } = setup({ status: 'completed' })
  bell.notify()
  await elapse()
  expect(looks).toHaveLength(2)
})

test('a rest ends when the user wants to stop', async () => {
  const { ended, bell, looks, stop } = setup({ status: 'working' })
  await settle()
  bell.notify()
  await settle()
  stop()
  await ended
  expect(looks).toEqual([0])
})
