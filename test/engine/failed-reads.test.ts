// Failed reads, and what depends on the feed: everything missed is made up for once the ledger can be read again,
// without any further commit as a wake-up.
import { describe, expect, it, onTestFinished } from 'vitest'
import { Feed } from '../../src/actors/feed.ts'
import { Subscriptions } from '../../src/actors/subscriptions.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { Run } from '../../src/entities/executor.ts'
import { createFaultyLedger, openLedger, SimulatedClock } from '../../src/testing/index.ts'
import { eventRow } from '../ledger/factories.ts'
import { deferred, ledgerFile, openEngine, reached, turns } from './world.ts'

/** An engine on a ledger that fails on request, and one of another process, which only commands. */
async function setup<E extends ExecutorMap>(options: EngineOptions<E> = {}) {
  const file = ledgerFile()
  const clock = new SimulatedClock()
  const ledger = createFaultyLedger(await openLedger(file, clock))
  onTestFinished(() => ledger.close())
  const reported: unknown[] = []
  let nextReport = deferred<unknown>()
  const engine = await openEngine({
    ...options,
    ledger,
    clock,
    onError: (error: unknown, context: Record<string, unknown>) => {
      reported.push(context.doing)
      nextReport.resolve(error)
    },
  } as EngineOptions<E>)
  const other = await openEngine({ ledger: file, work: false })
  return {
    clock,
    ledger,
    engine,
    other,
    reported,
    nextReport: async () => {
      const error = await nextReport.promise
      nextReport = deferred()
      return error
    },
  }
}

describe('a failed read of the feed', () => {
  it('a failed read of the feed is retried: a task of another process is started although nothing else is written', async () => {
    const { clock, ledger, engine, other, reported, nextReport } = await setup({ executors: { n: () => 7 } })
    const task = await other.create({ executor: 'n' })
    ledger.failReads(1)
    clock.increment(20)
    expect(await nextReport()).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    const result = engine.result(task.id)
    clock.increment(20)
    expect(await result).toBe(7)
    expect(reported).toEqual(['follow the feed'])
  })

  it('a failed read of the feed is retried with growing delays, reported once, and followed by all missed events', async () => {
    const { clock, ledger, engine, other, reported, nextReport } = await setup({ work: false })
    const received: string[] = []
    const all = deferred()
    engine.subscribe('task.created', ({ data }) => {
      received.push(data.name as string)
      if (received.length === 3) all.resolve()
    })
    let attempts = 0
    const read = ledger.read.bind(ledger)
    ledger.read = (query) => {
      attempts += 1
      return read(query)
    }
    ledger.failReads()
    for (const name of ['a', 'b', 'c']) await other.create({ name })
    clock.increment(20)
    await nextReport()
    for (let second = 0; second < 20; second++) {
      clock.increment(1_000)
      await turns()
    }
    expect(attempts).toBeGreaterThan(8)
    expect(attempts).toBeLessThan(20)
    expect(received).toEqual([])
    ledger.mend()
    clock.increment(5_000)
    await all.promise
    expect(received).toEqual(['a', 'b', 'c'])
    expect(reported).toEqual(['follow the feed'])
  })

  it('a failed read of the feed is retried at once when an own commit shows that the ledger works again', async () => {
    const { clock, ledger, engine, other, nextReport } = await setup({ work: false })
    const received: string[] = []
    const both = deferred()
    engine.subscribe('task.created', ({ data }) => {
      received.push(data.name as string)
      if (received.length === 2) both.resolve()
    })
    ledger.failReads(1)
    await other.create({ name: 'theirs' })
    clock.increment(20)
    await nextReport()
    await engine.create({ name: 'ours' })
    await both.promise
    expect(received).toEqual(['theirs', 'ours'])
  })

  it('a failed read of the feed does not delay the closing of an engine, and is not retried afterwards', async () => {
    const { clock, ledger, engine, other, nextReport } = await setup({ work: false })
    ledger.failReads()
    await other.create({ name: 'a' })
    clock.increment(20)
    await nextReport()
    await engine.close()
    expect(clock.pending).toBe(0)
  })
})

it('a run whose admission had an unknown outcome begins, also when reads of its row fail at first', async () => {
  const { clock, ledger, engine, reported } = await setup({ executors: { n: () => 7 } })
  const read = ledger.read.bind(ledger)
  ledger.read = (query) =>
    read((tx) => {
      const isBroken = reported.filter((doing) => doing === 'start a run').length < 2
      return query({ ...tx, task: { ...tx.task, get: isBroken ? refuse : tx.task.get } })
    })
  ledger.fail('admit', 'kept')
  const created = engine.create({ executor: 'n' })
  for (let reads = 0; reads < 3; reads++) {
    await turns()
    clock.increment(200)
  }
  expect(reported).toEqual(['admit', 'start a run', 'start a run'])
  expect(await engine.get((await created).id)).toMatchObject({ status: 'completed', result: 7 })
})

it('the status counts again after a failed count', async () => {
  const { clock, ledger, engine, nextReport } = await setup({ work: false })
  await engine.create({ name: 'a' })
  const counted = deferred<number>()
  ledger.failReads(1)
  const { status } = engine
  status.subscribe(({ context }) => {
    if (context.counted) counted.resolve(context.tasks.submitted)
  })
  await nextReport()
  clock.increment(20)
  expect(await counted.promise).toBe(1)
})

it('a subscriber that has fallen behind gets everything in order, although a read of missed events fails', async () => {
  const { clock, ledger, engine, nextReport } = await setup({ work: false })
  const received: number[] = []
  const first = deferred()
  const all = deferred()
  engine.subscribe('*', async ({ seq }) => {
    if (received.push(seq) === 1) await first.promise
    if (received.length === 2_001) all.resolve()
  })
  await engine.create({ name: 'first' })
  for (let batch = 0; batch < 2; batch++) {
    await engine.create(Array.from({ length: 1_000 }, () => ({ name: 'more' })))
  }
  ledger.failReads(1)
  first.resolve()
  expect(await nextReport()).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  clock.increment(20)
  await all.promise
  expect(received).toEqual(received.map((_, index) => (received[0] as number) + index))
})

it('an event that is published while the last delivery is ending is delivered too', async () => {
  // One of these numbers of microtasks hits the very moment.
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    const ledger = await openLedger(':memory:')
    const feed = new Feed(
      ledger,
      new SimulatedClock(),
      () => {},
      () => {},
    )
    await feed.start()
    const subscriptions = new Subscriptions(feed, () => {})
    const received: number[] = []
    const publish = (seq: number) => feed.committed([{ seq, ...eventRow({ taskId: 'a' }) } as TaskEvent])
    subscriptions.subscribe('*', async ({ seq }) => {
      received.push(seq)
      if (seq > 1) return
      // Not awaited: it runs beside the end of the delivery.
      void (async () => {
        for (let n = 0; n < microtasks; n++) await Promise.resolve()
        publish(2)
      })()
    })
    publish(1)
    await turns()
    expect(received, `after ${microtasks} microtasks`).toEqual([1, 2])
    feed.stop()
    await ledger.close()
  }
})

describe('a failed read of the journal', () => {
  it('a failed read of the journal is retried before the executor continues, and costs the task no attempt', async () => {
    const { clock, ledger, engine, reported, nextReport } = await setup({
      executors: {
        work: async (_task, run: Run) => {
          await run.sleep(1_000)
          return run.attempt
        },
      },
    })
    const read = ledger.read.bind(ledger)
    let broken = true
    ledger.read = (query) =>
      read((tx) => {
        const ofGeneration = broken ? refuse : tx.call.ofGeneration
        return query({ ...tx, call: { ...tx.call, ofGeneration } })
      })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'waiting')
    await turns()
    clock.increment(1_000)
    expect(await nextReport()).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    broken = false
    clock.increment(200)
    expect(await engine.result(task)).toBe(1)
    expect(reported).toEqual(['read the journal'])
  })
})

function refuse(): never {
  throw new ErrandError('LEDGER_UNAVAILABLE', 'A fault was planted in a read of the journal.', {})
}

describe('a run that another process has ended', () => {
  it('a run that another process has ended is not reported as an error when it checks a wait before the feed has published its end', async () => {
    const [began, held] = [deferred(), deferred<number>()]
    const hold = () => {
      began.resolve()
      return held.promise
    }
    const { clock, ledger, engine, other, reported } = await setup({
      executors: {
        parent: async (_task: unknown, run: Run) => {
          const child = await run.spawn({ name: 'by hand' })
          return Promise.all([run.wait([child]), run.call('hold', {}, hold, { onInterrupt: 'rerun' })])
        },
      },
    })
    const task = await engine.create({ executor: 'parent' })
    await began.promise
    await engine.pause(task.id)
    const looked = deferred<unknown>()
    const step = ledger.step.bind(ledger)
    ledger.step = async (given) => {
      if (given.name !== 'take wait') return step(given)
      ledger.step = step
      await other.pause(task.id)
      const looking = step(given)
      looking.catch(looked.resolve)
      return looking
    }
    held.resolve(1)
    await engine.resume(task.id)
    expect(await looked.promise).toMatchObject({ code: 'RUN_ENDED' })
    await turns()
    expect(reported).toEqual([])
    const paused = reached(engine, task, 'paused')
    clock.increment(20)
    await paused
  })
})
