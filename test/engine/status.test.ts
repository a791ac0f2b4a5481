// engine.status: a read model that costs nothing until its first use, and from then on equals a fresh count, whichever
// engine wrote the change.
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { EngineStatus, StatusStore } from '../../src/engine/engine-api.ts'
import { taskStatuses } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger, SimulatedClock } from '../../src/testing/index.ts'
import { taskRow } from '../ledger/factories.ts'
import { deferred, ledgerFile, openEngine, puppet, refusalOf, turns } from './world.ts'

/** Resolves to the status once it meets the condition. */
function until(store: StatusStore, is: (status: EngineStatus) => boolean): Promise<EngineStatus> {
  return new Promise((resolve) => {
    const done = (): boolean => {
      const { context } = store.get()
      if (is(context)) resolve(context)
      return is(context)
    }
    if (done()) return
    const watch = store.subscribe(() => {
      if (done()) watch.unsubscribe()
    })
  })
}

const counted = (store: StatusStore) => until(store, (status) => status.counted)

/** A fresh count of each state. */
async function freshCount(engine: { list(options: object): Promise<{ total: number }> }) {
  const counts: Record<string, number> = {}
  for (const status of taskStatuses) counts[status] = (await engine.list({ status, limit: 0 })).total
  return counts
}

/** A ledger that counts the counts of tasks and queue, and may delay an answer. */
function countingLedger(inner: Ledger) {
  const counts = { tasks: 0, queue: 0 }
  let held: Promise<void> | undefined
  const ledger = delegateLedger(inner, {
    async read(query) {
      let counting = false
      const found = await inner.read((tx) =>
        query({
          ...tx,
          task: {
            ...tx.task,
            *countByStatus() {
              counts.tasks++
              counting = true
              return yield* tx.task.countByStatus()
            },
            *countQueued() {
              counts.queue++
              return yield* tx.task.countQueued()
            },
          },
        }),
      )
      if (counting) await held
      return found
    },
  })
  return {
    ledger,
    counts,
    hold() {
      const gate = deferred()
      held = gate.promise
      return gate
    },
  }
}

async function openCounting(options: object = {}) {
  const inner = await openLedger(':memory:')
  const counting = countingLedger(inner)
  const clock = new SimulatedClock()
  const engine = await openEngine({ ledger: counting.ledger, clock, work: false, ...options })
  return { ...counting, inner, clock, engine }
}

describe('engine.status', () => {
  it('engine.status counts nothing and keeps nothing alive while it is unused', async () => {
    const { engine, counts, clock } = await openCounting()
    await engine.create(Array.from({ length: 10 }, () => ({ name: 'a' })))
    await turns()
    expect(counts).toEqual({ tasks: 0, queue: 0 })
    expect(clock.pending).toBe(0)
  })

  it('engine.status counts all tasks once, at the first read, and follows the feed from there', async () => {
    const { engine, counts, clock } = await openCounting()
    const [first] = await engine.create([{ name: 'a' }, { name: 'b' }])
    expect(engine.status.get().context).toMatchObject({ counted: false, lastEvent: null })
    expect((await counted(engine.status)).tasks).toMatchObject({ submitted: 2, canceled: 0 })
    await engine.cancel(first as { id: string })
    await engine.create([{ name: 'c' }, { name: 'd' }])
    expect(engine.status.get().context.tasks).toMatchObject({ submitted: 3, canceled: 1 })
    expect(engine.status).toBe(engine.status)
    expect(counts.tasks).toBe(1)
    clock.increment(50)
    await turns()
    expect(clock.pending).toBe(0)
  })

  it('engine.status counts the queue at most every 50 ms, however many events there are', async () => {
    const { engine, counts, clock } = await openCounting()
    await counted(engine.status)
    for (let n = 0; n < 20; n++) await engine.create({ name: 'by hand' })
    expect([counts.queue, engine.status.get().context.claimable]).toEqual([1, 0])
    clock.increment(50)
    const { claimable, queued } = await until(engine.status, (status) => status.claimable === 20)
    expect([claimable, queued, counts.queue]).toEqual([20, 0, 2])
    await engine.create({ executor: 'elsewhere' } as never)
    clock.increment(50)
    await until(engine.status, (status) => status.queued === 1)
  })

  it('engine.status includes events published during a count, on a database that answers later', async () => {
    const { engine, hold, inner } = await openCounting()
    await engine.create({ name: 'before' })
    const gate = hold()
    const store = engine.status
    await turns()
    const [meanwhile] = await engine.create([{ name: 'meanwhile' }, { name: 'too' }])
    await engine.cancel(meanwhile as { id: string })
    gate.resolve()
    const status = await counted(store)
    expect(status.tasks).toEqual(await inner.read((tx) => tx.task.countByStatus()))
    expect(status.tasks).toMatchObject({ submitted: 2, canceled: 1 })
  })

  it('engine.status equals a fresh count after any actions of two engines on one file, in both of them', async () => {
    const ledger = ledgerFile()
    const executors = {
      good: () => 'done',
      bad: () => {
        throw new Error('no')
      },
    }
    const open = () => openEngine({ ledger, executors, autoComplete: true, maxConcurrent: 3 })
    const engines = [await open(), await open()] as const
    const [a, b] = engines
    const stores = [a.status, b.status]
    for (const store of stores) await counted(store)
    const known: string[] = []
    let seed = 7
    const dice = (sides: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * sides)
    }
    const any = (): string => known[dice(known.length)] ?? 'task-none'
    const creations = [
      () => ({ name: 'by hand' }),
      () => ({ executor: 'good' }),
      () => ({ executor: 'bad', retry: { maxAttempts: 2, backoffMs: 1 } }),
      () => ({
        name: 'group',
        tasks: { one: { executor: 'good' }, two: { name: 'two', tasks: { x: { name: 'x' } } } },
      }),
      () => ({ name: 'child', parentId: any(), onChildFailure: 'fail' }),
      () => ({ executor: 'bad', parentId: any() }),
      () => ({ name: 'after', blockedBy: [any()], onDependencyFailure: 'cancel' }),
    ]
    const works: Array<(engine: typeof a) => Promise<unknown>> = [
      (engine) => engine.cancel(any()),
      (engine) => engine.delete(any(), { children: (['promote', 'cascade', 'refuse'] as const)[dice(3)] as never }),
      (engine) => engine.retry(any()),
      (engine) => engine.start(any()),
      (engine) => engine.pause(any()),
      (engine) => engine.resume(any()),
      (engine) => engine.claim(null, { owner: 'ann' }),
      (engine) => engine.complete(any(), 1, { owner: 'ann' }),
      (engine) => engine.complete(any()),
      (engine) => engine.fail(any(), 'no', { owner: 'ann' }),
      (engine) => engine.release(any(), { owner: 'ann' }),
      (engine) => engine.unblock(any(), any()),
    ]
    let done = 0
    for (let n = 0; n < 400; n++) {
      const engine = engines[dice(2)] as typeof a
      const isNew = known.length < 5 || dice(3) === 0
      const given = (creations[dice(creations.length)] as () => object)()
      const work = isNew
        ? engine.create(given as never)
        : (works[dice(works.length)] as (e: typeof a) => unknown)(engine)
      await Promise.resolve(work).then(
        (made) => {
          done++
          if (isNew) known.push((made as { id: string }).id)
        },
        (refused: unknown) => expect(ErrandError.isInstance(refused), String(refused)).toBe(true),
      )
      if (isNew && n % 7 === 0) for (const each of (await a.list({ limit: 5 })).tasks) known.push(each.id)
    }
    expect(done).toBeGreaterThan(150)
    await Promise.all(engines.map((engine) => engine.idle()))
    const allDelivered = async () => {
      let last = 0
      for await (const event of a.events({ follow: false })) last = event.seq
      for (const store of stores) await until(store, (status) => status.lastEvent?.seq === last)
    }
    await allDelivered()
    const fresh = await freshCount(a)
    for (const store of stores) expect(store.get().context.tasks).toEqual(fresh)
    for (const status of ['submitted', 'working', 'completed', 'failed', 'canceled']) {
      expect([status, (fresh[status] as number) > 0]).toEqual([status, true])
    }
    const { total: waiting } = await a.list({ ready: true, limit: 0 })
    for (const store of stores) await until(store, (status) => status.queued + status.claimable === waiting)

    // The engine that purges counts again; the other, which gets no event, does so at its own next purge.
    const { tasks: purged } = await a.purge({ before: Date.now() + 1 })
    expect(purged).toBeGreaterThan(0)
    const left = await freshCount(a)
    expect(left).not.toEqual(fresh)
    expect(a.status.get().context.tasks).toEqual(left)
    expect(b.status.get().context.tasks).toEqual(fresh)
    await b.purge({ before: 0 })
    expect(b.status.get().context.tasks).toEqual(left)
  })

  it('engine.status follows a cascade over a family that no step has seen row by row', async () => {
    const engine = await openEngine()
    const root = await engine.create({
      name: 'root',
      tasks: Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`t${n}`, { name: `t${n}` }])),
    })
    await counted(engine.status)
    await engine.cancel(root.id)
    const status = await until(engine.status, ({ tasks }) => tasks.canceled === 701)
    expect(status.tasks.submitted).toBe(0)
    await engine.delete(root.id, { children: 'cascade' })
    await until(engine.status, ({ tasks }) => tasks.canceled === 0)
    await until(engine.status, ({ claimable }) => claimable === 0)
  })

  it('engine.status counts again after a purge by the retention of its own engine', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ clock, retentionMs: 1_000, executors: { good: () => 1 } })
    await engine.result((await engine.create({ executor: 'good' })).id)
    const store = engine.status
    await until(store, ({ tasks }) => tasks.completed === 1)
    const emptied = until(store, ({ tasks }) => tasks.completed === 0)
    await turns()
    for (let step = 0; step < 10; step++) {
      clock.increment(500)
      await turns()
    }
    await emptied
  })

  it('engine.status reports the slots of this engine, what runs in them, and the latest event', async () => {
    const { executor, started } = puppet()
    const clock = new SimulatedClock()
    const engine = await openEngine({ executors: { work: executor }, maxConcurrent: 2, clock })
    const store = engine.status
    await counted(store)
    expect(store.get().context).toMatchObject({
      working: true,
      slots: { used: 0, free: 2, maxConcurrent: 2 },
      running: [],
    })
    const tasks = await engine.create([{ executor: 'work', name: 'one' }, { executor: 'work' }, { executor: 'work' }])
    const first = await started(0)
    await started(1)
    const busy = await until(store, ({ slots }) => slots.used === 2)
    expect(busy.slots).toEqual({ used: 2, free: 0, maxConcurrent: 2 })
    const since = clock.now()
    expect(busy.running[0]).toEqual({
      taskId: tasks[0]?.id,
      name: 'one',
      executor: 'work',
      run: 1,
      since,
      parked: false,
    })
    await engine.setLimits({ maxConcurrent: 1 })
    expect(store.get().context.slots).toEqual({ used: 2, free: 0, maxConcurrent: 1 })
    first.end.resolve(null)
    await until(store, ({ slots }) => slots.used === 1)
    await engine.setLimits({ maxConcurrent: 5 })
    await started(2)
    const wide = await until(store, ({ slots }) => slots.used === 2)
    expect(wide.slots).toEqual({ used: 2, free: 3, maxConcurrent: 5 })
    expect(wide.running.map((each) => each.taskId)).toEqual([tasks[1]?.id, tasks[2]?.id])
    await engine.create({ name: 'last' })
    expect(store.get().context.lastEvent).toMatchObject({ type: 'task.created', data: { name: 'last' } })
    await engine.close()
    expect(store.get().context).toMatchObject({ working: false, slots: { used: 0, free: 0 }, running: [] })
  })

  it('engine.status reports no free slots to an engine with work: false until it works', async () => {
    const engine = await openEngine({ work: false, maxConcurrent: 4, executors: { work: () => 1 } })
    expect(engine.status.get().context).toMatchObject({
      working: false,
      slots: { used: 0, free: 0, maxConcurrent: 4 },
    })
    await engine.work()
    expect(engine.status.get().context).toMatchObject({ working: true, slots: { used: 0, free: 4 } })
  })

  it('engine.status notifies a selector only of changes in what it selects, and none after unsubscribing', async () => {
    const engine = await openEngine({ work: false })
    await counted(engine.status)
    const received = { canceled: [] as number[], parity: [] as number[], all: 0 }
    const canceled = engine.status.select(({ tasks }) => tasks.canceled)
    const watches = [
      canceled.subscribe((value) => received.canceled.push(value)),
      engine.status
        .select(
          ({ tasks }) => tasks.submitted,
          (x, y) => x % 2 === y % 2,
        )
        .subscribe((value) => received.parity.push(value)),
      engine.status.subscribe(() => received.all++),
    ]
    const tasks = await engine.create([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    await engine.start((tasks[0] as { id: string }).id)
    expect(received.canceled).toEqual([])
    expect(received.all).toBeGreaterThan(3)
    await engine.cancel((tasks[1] as { id: string }).id)
    expect([received.canceled, canceled.get()]).toEqual([[1], 1])
    expect(received.parity).toEqual([1, 2, 3, 2, 1])
    for (const watch of watches) watch.unsubscribe()
    const before = structuredClone(received)
    await engine.cancel((tasks[2] as { id: string }).id)
    expect(received).toEqual(before)
    expect(canceled.get()).toBe(2)
  })

  it('engine.status reports a listener that throws, and notifies the others', async () => {
    const reported: unknown[] = []
    const engine = await openEngine({ work: false, onError: (error, context) => reported.push([error, context]) })
    await counted(engine.status)
    let received = 0
    engine.status.subscribe(() => {
      throw new Error('a watcher')
    })
    engine.status.select(({ tasks }) => tasks.submitted).subscribe(() => received++)
    await engine.create({ name: 'a' })
    expect(received).toBe(1)
    expect(reported[0]).toEqual([new Error('a watcher'), { doing: 'notify a status listener' }])
    expect(() => engine.status.subscribe('no function' as never)).toThrow(/status/)
    expect(() => engine.status.select(({ working }) => working).subscribe(undefined as never)).toThrow(/status/)
  })

  it('engine.status refuses an invalid selector or listener', async () => {
    const engine = await openEngine()
    await refusalOf(() => engine.status.select(undefined as never), 'INVALID_INPUT')
    await refusalOf(() => engine.status.subscribe('all' as never), 'INVALID_INPUT')
  })

  it('engine.status is quiet after close: no timer, no count, and a late read gets the last state', async () => {
    const clock = new SimulatedClock()
    const reported: unknown[] = []
    const options = { clock, onError: (error: unknown) => reported.push(error), executors: { good: () => 1 } }
    const engine = await createEngine(options)
    const { status } = engine
    await counted(status)
    await engine.create({ name: 'a' })
    expect(clock.pending).toBeGreaterThan(0)
    await engine.close()
    expect(clock.pending).toBe(0)
    expect(status.get().context.tasks.submitted).toBe(1)
    expect(engine.status.get().context.tasks.submitted).toBe(1)

    // On a ledger of the caller that stays open: a closed engine ignores what others do there.
    const ledger = await openLedger(':memory:')
    const closed = await createEngine({ ...options, ledger })
    await closed.close()
    expect(closed.status.get().context.counted).toBe(false)
    await ledger.step({ name: 'add', decide: (tx) => tx.task.insert(taskRow({ id: 'task-late' })) })
    await turns()
    expect(closed.status.get().context.counted).toBe(false)
    await ledger.close()
    const unused = await createEngine(options)
    await unused.close()
    expect(unused.status.get().context.counted).toBe(false)
    await turns()
    expect(reported).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
