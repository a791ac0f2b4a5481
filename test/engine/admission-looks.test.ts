// What an admission has seen: all that its commit writes, so that the supervisor need not read what is due and what is ready once more; and
// what it must leave alone.
import { expect, it, onTestFinished } from 'vitest'
import { SimulatedClock } from 'xstate'
import { ErrandError } from '../../src/core/errors.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { deferred, openEngine, puppet, turns } from './world.ts'

async function memoryLedger(): Promise<Ledger> {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  return ledger
}

/** An engine whose looks for ready tasks are counted. Its clock stands still, so that no interval passes. */
async function countingEngine(given?: Ledger) {
  const inner = given ?? (await memoryLedger())
  let looks = 0
  const ledger = delegateLedger(inner, {
    read: (query) =>
      inner.read((tx) =>
        query({
          ...tx,
          task: {
            ...tx.task,
            anyReady(...given) {
              looks++
              return tx.task.anyReady(...given)
            },
          },
        }),
      ),
  })
  const engine = await openEngine({ ledger, clock: new SimulatedClock(), executors: { work: () => 'done' } })
  await turns()
  return { engine, looks: () => looks }
}

it('an admission looks for tasks, so that its engine does not look again after the same commit', async () => {
  const { engine, looks } = await countingEngine()
  const before = looks()
  for (let n = 0; n < 20; n++) {
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
  }
  await turns()
  expect(looks()).toBe(before)
})

it('an engine does not look for tasks when another one starts what it creates in the same commit, and does when it does not', async () => {
  const ledger = await memoryLedger()
  const { engine, looks } = await countingEngine(ledger)
  const hands = puppet()
  const other = await openEngine({ ledger, clock: new SimulatedClock(), executors: { held: hands.executor } })
  await turns()
  const before = looks()
  await other.create({ executor: 'held' })
  await hands.started(0)
  await turns()
  expect(looks()).toBe(before)
  const client = await openEngine({ ledger, work: false, executors: { work: () => 'done' } })
  expect(await engine.result(await client.create({ executor: 'work' }))).toBe('done')
  expect(looks()).toBeGreaterThan(before)
})

it('a commit without an admission makes its engine look for tasks, and start them', async () => {
  const { engine, looks } = await countingEngine()
  const held = await engine.create({ executor: 'work', autoStart: false })
  await turns()
  const before = looks()
  await engine.start(held)
  await turns()
  expect(looks()).toBeGreaterThan(before)
  expect((await engine.get(held))?.status).toBe('completed')
})

/** The step, and how many ready tasks it reads at most is noted. */
function noting<R>(step: Step<R>, limits: number[]): Step<R> {
  return {
    ...step,
    decide(tx) {
      const ready: typeof tx.task.ready = (executor, lane, limit, ...given) => {
        limits.push(limit)
        return tx.task.ready(executor, lane, limit, ...given)
      }
      return step.decide({ ...tx, task: { ...tx.task, ready } })
    },
  }
}

it('an admission reads no more ready tasks than its engine has free slots, however many are created', async () => {
  const inner = await memoryLedger()
  const limits: number[] = []
  const ledger = delegateLedger(inner, { step: (step) => inner.step(noting(step, limits)) })
  const hands = puppet()
  const executors = { held: hands.executor, work: () => 'done' }
  const engine = await openEngine({ ledger, clock: new SimulatedClock(), executors, maxConcurrent: 4 })
  await engine.result(await engine.create({ executor: 'work' }))
  await engine.create({ executor: 'held' })
  await Promise.all(Array.from({ length: 30 }, () => engine.create({ executor: 'held' })))
  await engine.create(Array.from({ length: 200 }, () => ({ executor: 'held' as const })))
  await turns()
  expect(Math.max(...limits)).toBeLessThanOrEqual(4)
  expect(hands.runs).toHaveLength(4)
})

it('an admission that begins again reads no more ready tasks than before, however many are created meanwhile', async () => {
  const inner = await memoryLedger()
  const limits: number[] = []
  const attempted = deferred()
  const again = deferred()
  let isHeld = false
  const ledger = delegateLedger(inner, {
    async step(step) {
      if (isHeld && step.name === 'admit') {
        isHeld = false
        await inner.step({
          name: 'an attempt that ends',
          *decide(tx) {
            step.decide(tx)
          },
        })
        attempted.resolve()
        await again.promise
      }
      return await inner.step(noting(step, limits))
    },
  })
  const hands = puppet()
  const executors = { held: hands.executor }
  const engine = await openEngine({ ledger, clock: new SimulatedClock(), executors, maxConcurrent: 4 })
  await engine.create({ executor: 'held' })
  const run = await hands.started(0)
  isHeld = true
  run.end.resolve('done')
  await attempted.promise
  await engine.create(Array.from({ length: 200 }, () => ({ executor: 'held' as const })))
  again.resolve()
  await hands.started(4)
  await turns()
  expect(Math.max(...limits)).toBeLessThanOrEqual(4)
})

it('an admission starts a task that becomes ready by a step queued behind it', async () => {
  const inner = await memoryLedger()
  const queued: string[] = []
  const step: Ledger['step'] = (given) => {
    queued.push(given.name)
    return inner.step(given)
  }
  const hands = puppet()
  const executors = { work: hands.executor }
  const engine = await openEngine({ ledger: delegateLedger(inner, { step }), clock: new SimulatedClock(), executors })
  const held = await engine.create({ executor: 'work', autoStart: false })
  const creation = engine.create({ executor: 'work' })
  while (queued.at(-1) !== 'admit') await Promise.resolve()
  const start = engine.start(held)
  await Promise.all([creation, start])
  await turns()
  expect(queued.slice(queued.indexOf('admit') + 1)).toHaveLength(1)
  expect(hands.runs).toHaveLength(2)
})

it('an admission whose answer comes late does not disarm the timer of a task that was created meanwhile', async () => {
  const inner = await memoryLedger()
  const answer = Promise.withResolvers<void>()
  let isLate = true
  const ledger = delegateLedger(inner, {
    async step(step) {
      const result = await inner.step(step)
      if (step.name === 'admit' && isLate) await answer.promise
      return result
    },
  })
  const clock = new SimulatedClock()
  const hands = puppet()
  const engine = await openEngine({ ledger, clock, executors: { work: hands.executor } })
  await engine.create({ executor: 'work' })
  await hands.started(0)
  isLate = false
  await engine.create({ executor: 'work', notBefore: 50 })
  await turns()
  answer.resolve()
  await turns()
  // Less than the interval after which an engine looks in any case.
  clock.increment(50)
  await turns()
  expect(hands.runs).toHaveLength(2)
})

it('an admission that leaves the look to a later one does not disarm a timer, whatever becomes of the later one', async () => {
  const inner = await memoryLedger()
  const turn = Promise.withResolvers<void>()
  let admissions: 'kept' | 'late' | 'refused' = 'kept'
  const ledger = delegateLedger(inner, {
    async step(step) {
      if (step.name !== 'admit' || admissions === 'kept') return inner.step(step)
      if (admissions === 'refused') throw new ErrandError('LEDGER_WRITE_FAILED', 'The disk is full.')
      await turn.promise
      return inner.step(step)
    },
  })
  const clock = new SimulatedClock()
  const executors = { work: () => 'done' }
  const engine = await openEngine({ ledger, clock, executors, onError: () => {} })
  const due = await engine.create({ executor: 'work', notBefore: 50 })
  await turns()
  admissions = 'late'
  await engine.create({ executor: 'work' })
  admissions = 'refused'
  await engine.create({ executor: 'work' })
  await turns()
  turn.resolve()
  await turns()
  admissions = 'kept'
  clock.increment(50)
  await turns()
  expect((await engine.get(due))?.status).toBe('completed')
})

it('a child does not start in the commit that creates it, though an admission shares that commit', async () => {
  const ledger = await memoryLedger()
  const commits: TaskEvent[][] = []
  const observer = { committed: (events: readonly TaskEvent[]) => commits.push([...events]), changed() {}, failed() {} }
  onTestFinished(ledger.observe(observer, { watchOthers: false }))
  const engine = await openEngine({ ledger, executors: { work: () => 'done' } })
  const parent = await engine.start(await engine.create({ name: 'parent', autoComplete: true }))
  const [child, root] = await Promise.all([
    engine.create({ executor: 'work', parentId: parent.id }),
    engine.create({ executor: 'work' }),
  ])
  // The child that is created next comes before the first one ends, and with it the parent.
  const next = await engine.create({ executor: 'work', parentId: parent.id })
  expect(await engine.result(next)).toBe('done')
  const startedIn = (events: TaskEvent[] | undefined) =>
    events?.flatMap(({ type, taskId }) => (type === 'task.started' ? [taskId] : []))
  const creation = commits.find((events) => events.some(({ taskId }) => taskId === child.id))
  expect(startedIn(creation)).toEqual([root.id])
  expect(startedIn(commits.flat())).toContain(child.id)
  expect((await engine.settled(parent)).status).toBe('completed')
})

it('a child that an admission has passed over starts right after it', async () => {
  const hands = puppet()
  const executors = { work: () => 'done', held: hands.executor }
  const engine = await openEngine({ clock: new SimulatedClock(), executors })
  const parent = await engine.create({ name: 'parent' })
  const [child] = await Promise.all([
    engine.create({ executor: 'work', parentId: parent.id }),
    engine.create({ executor: 'held' }),
  ])
  await turns()
  expect((await engine.get(child))?.status).toBe('completed')
})

it('children that a run spawns start in the commit that creates them, and those of a group after it', async () => {
  const ledger = await memoryLedger()
  const commits: TaskEvent[][] = []
  const observer = { committed: (events: readonly TaskEvent[]) => commits.push([...events]), changed() {}, failed() {} }
  onTestFinished(ledger.observe(observer, { watchOthers: false }))
  const engine = await openEngine({
    ledger,
    executors: {
      parent: (_task: ExecutorTask, run: Run) =>
        run.spawn([
          { name: 'direct', executor: 'work' },
          { name: 'held', executor: 'work', autoStart: false },
          { name: 'group', tasks: { inner: { name: 'inner', executor: 'work' } } },
        ]),
      work: () => 'done',
    },
  })
  await engine.result(await engine.create({ executor: 'parent' }))
  const { tasks } = await engine.list()
  const named = (name: string) => tasks.find((task) => task.name === name)?.id as string
  const startedWith = (created: string) =>
    commits
      .find((events) => events.some(({ type, taskId }) => type === 'task.created' && taskId === created))
      ?.flatMap(({ type, taskId }) => (type === 'task.started' ? [taskId] : []))
  expect(startedWith(named('direct'))).toEqual([named('direct')])
  expect((await engine.settled(named('inner'))).status).toBe('completed')
})
