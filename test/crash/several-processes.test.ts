// Several processes on one ledger: no engine takes a run from another live one, however slow; killed engines are noticed at once; no task runs
// twice; and an operation in one process takes effect in the other.

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { isAlive, type ProcessGroup, processGroupOf } from '../../src/executors/process-group.ts'
import type { Step } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { delegateLedger } from '../../src/testing/delegate-ledger.ts'
import { createOne, createPlace, drawSeed, effectsOf, openEngine, randomOf, startEngine } from './child.ts'
import { violations } from './invariants.ts'

/** A ledger that counts how often a working engine checks whether other engines are alive. */
async function countingLedger(path: string) {
  const inner = await openLedger(path)
  let checks = 0
  let waiting: Array<{ checks: number; resolve: () => void }> = []
  const ledger = delegateLedger(inner, {
    isAlive(id) {
      checks++
      for (const each of waiting) if (each.checks <= checks) each.resolve()
      waiting = waiting.filter((each) => each.checks > checks)
      return inner.isAlive(id)
    },
  })
  return {
    ledger,
    checked: (times: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ checks: checks + times, resolve })
      }),
  }
}

const held = { executor: 'held', key: 'held', name: 'held' }

describe('Two engines on one ledger', () => {
  it.each([
    ['busy', false],
    ['stopped by SIGSTOP', true],
  ])('S0-109 an engine does not fail the calls of another live engine that is %s', async (_how, stop) => {
    const place = createPlace()
    const first = startEngine(place, { create: [held], leave: 'settled' })
    await first.lineWhere((line) => 'inside' in line)
    if (stop) first.signal('SIGSTOP')
    const { ledger, checked } = await countingLedger(place.ledger)
    const second = await openEngine(place, { ledger })
    const task = await createOne(second, held)
    await checked(4)
    // It runs its own tasks and does not change those of the other.
    expect(await second.result(await createOne(second, { executor: 'leaf' }))).toContain('leaf of')
    expect(await second.calls(task)).toMatchObject([{ status: 'in_progress' }])
    expect(await second.runs(task)).toMatchObject([{ status: 'live', outcome: null }])
    if (stop) first.signal('SIGCONT')
    first.send('go')
    expect(await second.result(task)).toBe(`held of ${task.id}`)
    expect((await first.exited).code).toBe(0)
    expect(await second.runs(task)).toHaveLength(1)
    await second.close()
    await ledger.close()
    expect(await violations(place)).toEqual([])
  })

  it('an engine notices within three seconds that another engine was killed', async () => {
    const place = createPlace()
    // Without the executor of the first engine it can only recover those tasks.
    const second = await openEngine(place, { executors: { leaf: async () => 'leaf' } })
    const noticed: number[] = []
    for (let round = 1; round <= 5; round++) {
      const first = startEngine(place, { create: [{ ...held, key: `held ${round}` }], leave: 'never' })
      const { inside } = await first.lineWhere((line) => 'inside' in line)
      await first.kill()
      const since = Date.now()
      for await (const event of second.events({ taskId: inside as string })) if (event.data['lost'] !== undefined) break
      noticed.push(Date.now() - since)
    }
    console.log(`a death was noticed after ${noticed.join(', ')} ms`)
    for (const ms of noticed) expect(ms).toBeLessThan(3_000)
  })

  it('S0-109 two engines on one ledger run each task once', async () => {
    const place = createPlace()
    const create = Array.from({ length: 60 }, (_, index) => ({ executor: 'leaf', key: `task ${index}` }))
    const processes = [0, 1].map(() => startEngine(place, { create, leave: 'settled', maxConcurrent: 4 }))
    for (const { exited } of processes) expect((await exited).code).toBe(0)
    expect(effectsOf(place)).toHaveLength(60)
    expect(new Set(effectsOf(place).map((effect) => effect.taskId)).size).toBe(60)
    expect(await violations(place)).toEqual([])
    const database = new Database(place.ledger, { readonly: true })
    const engines = database.prepare('select count(distinct instance_id) as count from run').get()
    const runs = database.prepare('select max(number) as max from run').get()
    database.close()
    expect(runs).toEqual({ max: 1 })
    console.log(`60 tasks, run by ${(engines as { count: number }).count} engines`)
  })

  it('canceling a task in one process aborts its run in another within 200 ms', async () => {
    const place = createPlace()
    const hands = await openEngine(place, { work: false })
    const worker = startEngine(place, { leave: 'never' })
    await worker.lineWhere((line) => 'ready' in line)
    const latencies: number[] = []
    for (let round = 1; round <= 15; round++) {
      const task = await createOne(hands, { executor: 'idle' })
      await worker.lineWhere((line) => line['idling'] === task.id)
      const since = Date.now()
      await hands.cancel(task)
      const { at } = await worker.lineWhere((line) => line['aborted'] === task.id)
      latencies.push((at as number) - since)
    }
    latencies.sort((a, b) => a - b)
    console.log(
      `a cancel took effect in the other process after ${latencies[7]} ms (median), ${latencies.at(-1)} ms (max)`,
    )
    expect(latencies[7]).toBeLessThan(200)
    expect(latencies.at(-1)).toBeLessThan(2_000)
  })

  it('canceling a task in one process ends its command in another, with all processes that the command started', async () => {
    const place = createPlace()
    const hands = await openEngine(place, { work: false })
    const worker = startEngine(place, { leave: 'never' })
    await worker.lineWhere((line) => 'ready' in line)
    const input = { run: 'sleep 1000 & echo $$; wait', shell: '/bin/sh' }
    const task = await createOne(hands, { executor: 'shell', input })
    for await (const { type } of hands.events({ taskId: task.id })) if (type === 'output.written') break
    const [call] = await hands.calls(task)
    const group = processGroupOf(call?.details) as ProcessGroup
    expect(await isAlive(group)).toBe(true)
    await hands.cancel(task)
    for await (const { type } of hands.events({ taskId: task.id })) if (type === 'run.closed') break
    expect(await isAlive(group)).toBe(false)
  })
})

it('two engines that are killed in turn at random moments lose nothing, repeat nothing silently, and leave nothing stuck', async () => {
  const random = randomOf(drawSeed('two engines'))
  const place = createPlace()
  const create = Array.from({ length: 40 }, (_, index) => ({
    executor: ['everyStep', 'leaf', 'documents'][index % 3],
    key: `task ${index}`,
    input: { count: 5, atOnce: 5 },
  }))
  const start = () =>
    startEngine(place, {
      create,
      leave: 'settled',
      maxConcurrent: 3,
      maxCrashes: 100,
      onInterrupt: 'rerun',
      follow: true,
    })
  const engines = [start(), start()]
  let killed = 0
  for (let kill = 0; kill < 8; kill++) {
    const index = kill % 2
    const victim = engines[index] as ReturnType<typeof start>
    const nth = 10 + Math.floor(random() * 60)
    let events = 0
    await victim.lineWhere((line) => ('seq' in line && ++events >= nth) || 'steps' in line)
    if ((await victim.kill()).signal === 'SIGKILL') killed++
    engines[index] = start()
  }
  for (const { exited, lines } of engines) expect((await exited).code, JSON.stringify(lines.slice(-3))).toBe(0)
  const engine = await openEngine(place, { work: false })
  const { tasks, total } = await engine.list({ limit: 500 })
  expect(total).toBeGreaterThanOrEqual(40)
  expect(tasks.filter((task) => task.status !== 'completed')).toEqual([])
  expect(await violations(place)).toEqual([])
  console.log(`${killed} kills of two engines, ${effectsOf(place).length} effects of ${total} tasks`)
})

describe('An engine that was wrongly taken for dead', () => {
  it('S3-051 the late result of an engine that was wrongly taken for dead is refused by the number of its run', async () => {
    const { results, outcome } = await zombie(createPlace(), (step) => step)
    expect(results).toEqual([null, 'second'])
    expect(outcome).toMatchObject({ status: 'completed', result: 'second' })
  })

  it('the check for late results finds an engine that does not compare the number of the run', async () => {
    const { results } = await zombie(createPlace(), (step) => (step.name === 'finish call' ? unfenced(step) : step))
    expect(results).toEqual([null, 'zombie'])
  })
})

/** The planted fault: the step changes the open call of any run. */
function unfenced(step: Step): Step {
  return {
    ...step,
    decide: (tx) =>
      step.decide({
        ...tx,
        task: {
          ...tx.task,
          *get(id) {
            const task = yield* tx.task.get(id)
            return task && { ...task, run: 1 }
          },
        },
        call: {
          ...tx.call,
          *get(id) {
            const call = yield* tx.call.get(id)
            return call && (yield* tx.call.open(call.taskId)).at(-1)
          },
        },
      }),
  }
}

/** The first engine loses its lock in the middle of a call, a second one takes over, then the first one's call returns. */
async function zombie(place: ReturnType<typeof createPlace>, altered: (step: Step) => Step) {
  const inner = await openLedger(place.ledger)
  const instances: string[] = []
  const ledger = delegateLedger(inner, {
    step: <R>(step: Step<R>) => inner.step(altered(step) as Step<R>),
    async register(id) {
      instances.push(id)
      await inner.register(id)
    },
    // A hung process is not notified that it lost its runs.
    observe: (observer, options) =>
      inner.observe(
        { ...observer, committed: (events) => observer.committed(events), changed: () => {}, failed: () => {} },
        options,
      ),
  })
  const inside = Promise.withResolvers<void>()
  const wake = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<unknown>()
  const first = await openEngine(place, {
    ledger,
    shutdownTimeoutMs: 50,
    onError: () => {},
    executors: {
      held: async (_task: never, run: { call(name: string, fn: () => unknown): Promise<unknown> }) => {
        const call = run.call('work', async () => {
          inside.resolve()
          await wake.promise
          return 'zombie'
        })
        woken.resolve(
          await call.then(
            () => 'accepted',
            (error: unknown) => error,
          ),
        )
      },
    },
  })
  const task = await createOne(first, { ...held, onInterrupt: 'rerun' })
  await inside.promise
  for (const id of instances) inner.unregister(id, { asDead: true })
  const second = await openEngine(place, {
    executors: {
      held: (_task: never, run: { call(name: string, fn: () => unknown): Promise<unknown> }) =>
        run.call('work', async () => {
          wake.resolve()
          await woken.promise
          return 'second'
        }),
    },
  })
  await woken.promise
  const outcome = await second.settled(task)
  return { outcome, results: (await second.calls(task)).map((call) => call.result) }
}
