// Purge and retention: whole settled families leave the ledger with all their rows; an open task keeps what it needs.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { collect, history, openEngine, puppet, reached, refusalOf, turns } from './world.ts'

const start = Date.UTC(2030, 0, 1)

async function setup(options: { retentionMs?: number } = {}) {
  const clock = new SimulatedClock(start)
  const ledger = await openLedger(':memory:')
  const hands = puppet()
  const engine = await openEngine({
    ledger,
    clock,
    ...options,
    executors: {
      work: hands.executor,
      talks: async (_task: ExecutorTask, run: Run) => {
        await run.message('user', 'hello')
        await run.call('look', () => 'seen')
        return 'done'
      },
      needs: async (_task: ExecutorTask, run: Run) => (await run.dependencies()).map(({ result }) => result),
      waits: async (task: ExecutorTask<string[]>, run: Run) => run.wait(task.input),
    },
  })
  /** A moment later, everything that has settled by now is old enough. */
  const purge = () => {
    clock.increment(1)
    return engine.purge({ before: clock.now() })
  }
  return { engine, clock, ledger, hands, purge }
}

async function done(engine: Pick<Engine, 'start' | 'complete'>, task: { id: string }, result?: unknown): Promise<void> {
  await engine.start(task.id)
  await engine.complete(task.id, result)
}

async function idsOf(engine: Pick<Engine, 'list'>): Promise<string[]> {
  return (await engine.list({ limit: 1_000 })).tasks.map(({ id }) => id)
}

describe('engine.purge', () => {
  it('engine.purge removes a settled task with its runs, calls, messages and events, and frees its key', async () => {
    const { engine, ledger, purge } = await setup()
    const task = await engine.create({ executor: 'talks', key: 'once' })
    await engine.result(task)
    await engine.idle()
    const count = (await history(engine)).length
    expect(await purge()).toEqual({ families: 1, tasks: 1, events: count })
    expect(await engine.get(task)).toBeNull()
    for (const read of ['runs', 'calls', 'messages', 'children'] as const) {
      await refusalOf(engine[read](task.id), 'NOT_FOUND')
    }
    const left = await ledger.read(function* (tx) {
      return [
        yield* tx.run.list(task.id),
        yield* tx.call.list(task.id),
        yield* tx.message.list(task.id),
        yield* tx.event.after(0, 100),
      ]
    })
    expect(left).toEqual([[], [], [], []])
    const again = await engine.create({ executor: 'talks', key: 'once', input: 'other' })
    expect(again.id).not.toBe(task.id)
    expect(again.seq).toBeGreaterThan(task.seq)
    expect(await engine.result(again)).toBe('done')
  })

  it('engine.purge removes whole families only: one open member keeps them all, deep and deleted ones included', async () => {
    const { engine, purge } = await setup()
    const root = await engine.create({ name: 'root' })
    const child = await engine.create({ name: 'child', parentId: root.id })
    const deep = await engine.create({ name: 'deep', parentId: child.id })
    const removed = await engine.create({ name: 'removed', parentId: root.id })
    await engine.delete(removed)
    await done(engine, root)
    await done(engine, child)
    expect(await purge()).toMatchObject({ families: 0, tasks: 0 })
    expect(await idsOf(engine)).toEqual([root.id, child.id, deep.id])
    await engine.cancel(deep)
    expect(await purge()).toMatchObject({ families: 1, tasks: 4 })
    expect(await idsOf(engine)).toEqual([])
    expect(await history(engine)).toEqual([])
  })

  it('engine.purge keeps families that settled later than `before`', async () => {
    const { engine, clock } = await setup()
    const [old, young] = (await engine.create([{ name: 'old' }, { name: 'young' }])) as Task[]
    await engine.cancel(old!)
    clock.increment(100)
    await engine.cancel(young!)
    expect(await engine.purge({ before: start })).toMatchObject({ families: 0 })
    expect(await engine.purge({ before: start + 100 })).toMatchObject({ families: 1 })
    expect(await idsOf(engine)).toEqual([young!.id])
  })

  it('engine.purge keeps the dependencies of an open task, also completed ones, whose results are still to be read', async () => {
    const { engine, purge } = await setup()
    const gate = await engine.create({ name: 'gate' })
    const [one, broken] = (await engine.create([{ name: 'one' }, { name: 'broken' }])) as Task[]
    const task = await engine.create({ executor: 'needs', blockedBy: [one!.id, gate.id] })
    const stuck = await engine.create({ name: 'stuck', blockedBy: [broken!.id] })
    await done(engine, one!, 'result of one')
    await engine.cancel(broken!)
    expect(await purge()).toMatchObject({ families: 0 })
    await done(engine, gate, 'result of gate')
    expect(await engine.result(task)).toEqual(['result of one', 'result of gate'])
    await engine.idle()
    expect(await purge()).toMatchObject({ families: 3 })
    expect(await idsOf(engine)).toEqual([broken!.id, stuck.id])
    await engine.cancel(stuck)
    expect(await purge()).toMatchObject({ families: 2 })
  })

  it('engine.purge keeps the tasks that an open task waits for until it has the results of all of them', async () => {
    const { engine, purge } = await setup()
    const [one, two] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
    const waiter = await engine.create({ executor: 'waits', input: [one!.id, two!.id] })
    await reached(engine, waiter, 'waiting')
    await done(engine, one!, 1)
    expect(await purge()).toMatchObject({ families: 0 })
    await done(engine, two!, 2)
    expect(await engine.result(waiter)).toEqual([1, 2])
    await engine.idle()
    expect(await purge()).toMatchObject({ families: 3 })
  })

  it('engine.purge keeps a task that had settled before an open task began to wait for it and for another', async () => {
    const { engine, purge } = await setup()
    const [one, two] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
    await done(engine, one!, 1)
    const waiter = await engine.create({ executor: 'waits', input: [one!.id, two!.id] })
    await reached(engine, waiter, 'waiting')
    expect(await purge()).toMatchObject({ families: 0 })
    await done(engine, two!, 2)
    expect(await engine.result(waiter)).toEqual([1, 2])
  })

  it('engine.purge keeps a task whose executor has not returned yet', async () => {
    const hands = puppet({ stubborn: true })
    const engine = await openEngine({ executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    await engine.cancel(task)
    await held.aborted
    expect(await engine.purge({ before: 8e15 })).toMatchObject({ families: 0 })
    held.end.resolve(null)
    await engine.idle()
    expect(await engine.purge({ before: 8e15 })).toMatchObject({ families: 1 })
  })

  it('engine.purge does not change the streams of live tasks, read from any position', async () => {
    const { engine, hands, purge } = await setup()
    const live = await engine.create({ executor: 'work', name: 'live' })
    await hands.started(0)
    const dead = await engine.create({ name: 'dead' })
    await done(engine, dead)
    const before = await history(engine, live.id)
    const reading = collect(engine.stream(live))
    expect(await purge()).toMatchObject({ families: 1 })
    expect(await history(engine, live.id)).toEqual(before)
    hands.runs[0]!.end.resolve('done')
    await engine.result(live)
    const whole = await reading
    expect(whole.map(({ type }) => type)).toEqual(['start', 'state', 'state', 'end'])
    expect(await collect(engine.stream(live))).toEqual(whole)
    const rest = await collect(engine.stream(live, { after: before[0]!.seq }))
    expect(rest.at(-1)).toEqual(whole.at(-1))
  })

  it('engine.purge makes a cursor of the feed too old if later events were purged; 0 and later cursors stay valid', async () => {
    const { engine, purge } = await setup()
    const live = await engine.create({ name: 'live' })
    const [first] = await history(engine)
    await done(engine, await engine.create({ name: 'dead' }))
    const through = (await history(engine)).at(-1)!.seq
    const follow = (after: number) => collect(engine.events({ after, follow: false }))
    expect(await follow(first!.seq)).toHaveLength(3)
    await purge()
    const refusal = await refusalOf(follow(first!.seq), 'CURSOR_TOO_OLD')
    expect(refusal.details).toEqual({ after: first!.seq, oldest: through })
    expect((await follow(0)).map(({ taskId }) => taskId)).toEqual([live.id])
    expect(await follow(through)).toEqual([])
    await engine.start(live)
    expect((await follow(through)).map(({ type }) => type)).toEqual(['task.started'])
  })

  it('a cursor beyond the last event is refused by events and stream, also if the last events were purged', async () => {
    const { engine, purge } = await setup()
    const live = await engine.create({ name: 'live' })
    await done(engine, await engine.create({ name: 'dead' }))
    const last = (await history(engine)).at(-1)!.seq
    await purge()
    for (const options of [{ follow: false }, { follow: true }, { follow: true, taskId: live.id }]) {
      const refusal = await refusalOf(collect(engine.events({ after: last + 1, ...options })), 'CURSOR_AHEAD')
      expect(refusal.details).toEqual({ after: last + 1, latest: last })
    }
    await refusalOf(collect(engine.stream(live, { after: last + 1 })), 'CURSOR_AHEAD')
    expect(await collect(engine.events({ after: last, follow: false }))).toEqual([])
  })

  it('a reader that starts at 0 after engine.purge reads all events, however many pages lie behind the last purged one', async () => {
    const { engine, purge } = await setup()
    await engine.create(Array.from({ length: 1_100 }, () => ({ name: 'live' })))
    await engine.cancel(await engine.create({ name: 'dead' }))
    await purge()
    expect(await history(engine)).toHaveLength(1_100)
  })

  it('engine.purge does not disturb a reader that follows the feed from the present', async () => {
    const { engine, purge } = await setup()
    const abort = new AbortController()
    const received: string[] = []
    const live = await engine.create({ name: 'live' })
    const following = (async () => {
      for await (const { type } of engine.events({ signal: abort.signal })) {
        received.push(type)
        if (type === 'task.completed') abort.abort()
      }
    })()
    await engine.cancel(await engine.create({ name: 'dead' }))
    await turns(20)
    await purge()
    await done(engine, live)
    await following
    expect(received).toEqual(['task.created', 'task.created', 'task.canceled', 'task.started', 'task.completed'])
  })

  it('engine.purge removes more families than fit into one step', async () => {
    const { engine, purge } = await setup()
    const made = (await engine.create(Array.from({ length: 450 }, () => ({ name: 'task' })))) as Task[]
    const [kept] = made
    await Promise.all(made.slice(1).map((task) => engine.cancel(task)))
    expect(await purge()).toMatchObject({ families: 449, tasks: 449 })
    expect(await idsOf(engine)).toEqual([kept!.id])
  })
})

/** A ledger that calls `work` before the n-th step of this name. */
function interrupted(inner: Ledger, name: string, work: (nth: number) => Promise<unknown>): Ledger {
  let nth = 0
  return delegateLedger(inner, {
    async step(step) {
      if (step.name === name) await work(++nth)
      return inner.step(step)
    },
  })
}

/** Two engines on one ledger; the purge of the first is interrupted by what the second does. */
async function setupTwo(name: string, work: (other: Engine, nth: number) => Promise<unknown>) {
  const ledger = await openLedger(':memory:')
  const clock = new SimulatedClock(start)
  const other = await openEngine({ ledger, clock, work: false })
  const engine = await openEngine({
    ledger: interrupted(ledger, name, (nth) => work(other as never, nth)),
    clock,
  })
  const purge = () => {
    clock.increment(1)
    return engine.purge({ before: clock.now() })
  }
  return { engine, other, clock, purge }
}

describe('what others do while an engine purges', () => {
  it('a purge keeps a family that was changed after it had been found', async () => {
    const ids: string[] = []
    const { engine, purge } = await setupTwo('purge', async (other, nth) => {
      if (nth === 1) await other.retry(ids[0]!)
    })
    const [one, two] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
    ids.push(one!.id)
    for (const { id } of [one!, two!]) await engine.fail(await engine.start(id), 'no')
    expect(await purge()).toMatchObject({ families: 1, tasks: 1 })
    expect(await engine.get(one!)).toMatchObject({ status: 'submitted' })
    expect(await engine.get(two!)).toBeNull()
  })

  it('a purge keeps a family that an open task came to need', async () => {
    const ids: string[] = []
    const { engine, purge } = await setupTwo('purge', async (other, nth) => {
      if (nth === 1) await other.create({ name: 'late', blockedBy: [ids[0]!] })
    })
    const [one] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
    ids.push(one!.id)
    await done(engine, one!, 'result of one')
    expect(await purge()).toMatchObject({ families: 0 })
    expect(await engine.get(one!)).toMatchObject({ result: 'result of one' })
  })

  it('a purge examines what was written meanwhile before it begins with a family, if that is much', async () => {
    const ids: string[] = []
    const attempts: number[] = []
    const { engine, purge } = await setupTwo('purge', async (other, nth) => {
      attempts.push(nth)
      if (nth > 1) return
      await other.create(Array.from({ length: 600 }, () => ({ name: 'one' })))
      await other.create({ name: 'late', blockedBy: [ids[0]!] })
      await other.create(Array.from({ length: 600 }, () => ({ name: 'two' })))
    })
    const [one, two] = (await engine.create([{ name: 'one' }, { name: 'two' }])) as Task[]
    ids.push(one!.id)
    for (const task of [one!, two!]) await done(engine, task)
    expect(await purge()).toMatchObject({ families: 1 })
    expect(attempts).toEqual([1, 2])
    expect(await engine.get(one!)).not.toBeNull()
    expect(await engine.get(two!)).toBeNull()
  })

  it('a purge leaves a family for the next one when others write faster than it can be examined', async () => {
    let busy = true
    const { engine, purge } = await setupTwo('purge', async (other) => {
      if (busy) await other.create(Array.from({ length: 1_001 }, () => ({ name: 'other' })))
    })
    const task = await engine.create({ name: 'old' })
    await done(engine, task)
    expect(await purge()).toMatchObject({ families: 0 })
    expect(await engine.get(task)).not.toBeNull()
    busy = false
    expect(await purge()).toMatchObject({ families: 1 })
  })

  it('a retry of a task that came after a purged one finds it free while the purge goes on', async () => {
    const ids: string[] = []
    let retried: unknown
    const { engine, clock } = await setupTwo('remove purged rows', async (other, nth) => {
      if (nth === 1) retried = await other.retry(ids[0]!)
    })
    const root = await engine.create({ name: 'root' })
    const after = await engine.create({ name: 'after', blockedBy: [root.id], deadline: start + 1_000 })
    ids.push(after.id)
    await engine.cancel(root)
    clock.increment(1_000)
    await reached(engine, after, 'failed')
    expect(await engine.purge({ before: start + 1_000 })).toMatchObject({ families: 1 })
    expect(retried).toMatchObject({ status: 'submitted', blockedBy: [] })
  })
})

describe('the retention of an engine', () => {
  it('an engine with retentionMs repeatedly purges the families that settled that long ago', async () => {
    const { engine, clock } = await setup({ retentionMs: 3_600_000 })
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 60_000) {
        clock.increment(Math.min(left, 60_000))
        await turns(20)
      }
    }
    const [one, two, open] = (await engine.create([{ name: 'one' }, { name: 'two' }, { name: 'open' }])) as Task[]
    await engine.cancel(one!)
    await pass(1_800_000)
    await engine.cancel(two!)
    expect(await idsOf(engine)).toHaveLength(3)
    await pass(1_920_000)
    expect(await idsOf(engine)).toEqual([two!.id, open!.id])
    await pass(1_920_000)
    expect(await idsOf(engine)).toEqual([open!.id])
  })

  it('an engine keeps settled tasks forever by default', async () => {
    const { engine, clock } = await setup()
    await engine.cancel(await engine.create({ name: 'task' }))
    for (let day = 0; day < 30; day++) {
      clock.increment(86_400_000)
      await turns(5)
    }
    expect(await idsOf(engine)).toHaveLength(1)
  })
})
