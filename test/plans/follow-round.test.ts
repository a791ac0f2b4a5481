// How a round is followed: it is read when an event is a reason to, and at most a fifth of the time.
import { expect, it } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { Notifier } from '../../src/core/notifier.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { followRound, RoundFeed } from '../../src/plans/follow-round.ts'
import { readRound, withMark } from '../../src/plans/round.ts'
import { observing, RoundRows } from '../../src/surfaces/terminal/round-rows.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'
import { taskOf } from '../surfaces/cli/task-of.ts'

const plan = planOf('tasks: { a: { ask: x }, b: { ask: y } }')
const question = { id: 'q', question: '?', for: 'person' as const, schema: null, askedAt: 0, dueAt: null }

/** A round whose tasks a test can change, on an engine that records its reads and counts calls of `why`. Each read takes 100 ms. */
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
  const view = new RoundRows(plan, { newest: new Map(), nextGeneration: 1 })
  const reporter = { ownsScreen: false, event() {}, end() {} }
  const controller = new AbortController()
  const feed = new RoundFeed(engine)
  const { signal } = controller
  const ended = followRound({ engine, round: 'r', feed, observer: observing(view, reporter), signal, bell, clock })
  /** Fires the timers between reads until the round has ended. */
  const elapse = async () => {
    let over = false
    void ended.then(() => (over = true))
    for (; !over; await settle()) waiting?.()
  }
  return { engine, tasks, bell, looks, ended, elapse, whys: () => whys, stop: () => controller.abort() }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

it('V-03 followRound ignores the mark of a task whose key is not the one of the mark', async () => {
  const { engine, tasks } = setup({ status: 'completed' })
  const [first, second] = tasks as [Task, Task]
  first.metadata = second.metadata
  expect([...(await readRound(engine, 'r')).newest]).toMatchObject([['b', { task: { id: second.id } }]])
})

it('followRound ends a round of open questions after one read, without `why`', async () => {
  const { ended, looks, whys } = setup({ status: 'input_required', questions: [question] })
  await ended
  expect({ looks, whys: whys() }).toEqual({ looks: [0], whys: 0 })
})

it('followRound calls `why` for a task whose row does not show what it waits for', async () => {
  const { ended, whys } = setup({ status: 'submitted' })
  await ended
  expect(whys()).toBe(2)
})

it('followRound reads a round at most a fifth of the time, however often it is notified', async () => {
  const { bell, looks, tasks, elapse } = setup({ status: 'working' })
  await settle()
  for (let ring = 0; ring < 50; ring++) {
    bell.notify()
    await settle()
  }
  expect(looks).toEqual([0])
  for (const task of tasks) task.status = 'completed'
  await elapse()
  // Notifications during a read cause another one.
  expect(looks.slice(0, 2)).toEqual([0, 500])
  expect(looks.length).toBeLessThanOrEqual(3)
})

it('followRound reads a round again when it was notified during the read', async () => {
  const { bell, looks, elapse } = setup({ status: 'completed' })
  bell.notify()
  await elapse()
  expect(looks).toHaveLength(2)
})

it('followRound ends its rest between two reads when the signal aborts', async () => {
  const { ended, bell, looks, stop } = setup({ status: 'working' })
  await settle()
  bell.notify()
  await settle()
  stop()
  await ended
  expect(looks).toEqual([0])
})
