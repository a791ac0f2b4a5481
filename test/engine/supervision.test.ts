// Supervision that loses nothing: whatever an engine missed, it reads again what is due and what is ready, and one
// commit carries both the end of a wave of runs and the start of the next.
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, history, ledgerFile, openEngine, puppet, reached, turns, typesOf } from './world.ts'

/** Lets both engines process what has changed, then passes time in pieces, as real time passes. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await turns(3)
    clock.increment(Math.min(100, left))
  }
  await turns(3)
}

describe('a task that sleeps', () => {
  it('a task that sleeps is woken by another engine when the one that ran it has closed', async () => {
    const ledger = await openLedger(':memory:')
    const clock = new SimulatedClock()
    const work = async (_task: ExecutorTask, run: Run) => {
      await run.sleep(60_000)
      return 'slept'
    }
    const first = await openEngine({ ledger, clock, executors: { work } })
    const task = await first.create({ executor: 'work' })
    await reached(first, task, 'waiting')
    // Only now, so that the first engine has finished suspending the run.
    const second = await openEngine({ ledger, clock, executors: { work } })
    await first.close()
    await pass(clock, 59_900)
    expect((await second.get(task))?.status).toBe('waiting')
    await pass(clock, 400)
    expect(await second.result(task)).toBe('slept')
  })

  it('a task that sleeps is woken by an engine that was open all the time and learned of its sleep from the feed', async () => {
    const ledger = await openLedger(':memory:')
    const clock = new SimulatedClock()
    const bystander = await openEngine({ ledger, clock, executors: { other: () => null } })
    const sleeper = await openEngine({
      ledger,
      clock,
      executors: { work: (_task: ExecutorTask, run: Run) => run.sleep(60_000) },
    })
    const task = await sleeper.create({ executor: 'work' })
    await reached(sleeper, task, 'waiting')
    await sleeper.close()
    await pass(clock, 60_300)
    expect((await bystander.get(task))?.ready).toBe(true)
    expect(typesOf(await history(bystander, task.id))).toContain('timer.fired')
  })

  it('a task that sleeps is woken in time by a clock that was set an hour forward', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({
      clock,
      executors: { work: (_task: ExecutorTask, run: Run) => run.sleep(3_600_000) },
    })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'waiting')
    clock.jumpTo(clock.now() + 3_600_000)
    await pass(clock, 400)
    await engine.result(task)
    const [slept] = (await history(engine, task.id)).filter(({ type }) => type === 'timer.fired')
    expect(clock.now() - (slept?.at ?? 0)).toBeLessThanOrEqual(400)
  })
})

describe('a failed read of the supervisor', () => {
  it('a failed read of the supervisor delays due and ready tasks, and loses neither', async () => {
    const ledger = await openLedger(':memory:')
    let broken = false
    const errors: unknown[] = []
    const failing = delegateLedger(ledger, {
      read: ((query) =>
        broken ? Promise.reject(new Error('the disk does not answer')) : ledger.read(query)) as typeof ledger.read,
    })
    const clock = new SimulatedClock()
    const engine = await openEngine({
      ledger: failing,
      clock,
      executors: { work: () => 'done' },
      onError: (error) => errors.push(error),
    })
    const task = await engine.create({ executor: 'work', notBefore: clock.now() + 1_000 })
    broken = true
    await pass(clock, 2_000)
    expect(errors.length).toBeGreaterThan(0)
    broken = false
    await pass(clock, 400)
    expect(await engine.result(task)).toBe('done')
  })
})

describe('a wave of runs', () => {
  it('a wave of runs takes one commit: its outcomes and the admission of the next wave share it', async () => {
    const path = ledgerFile()
    const ledger = await openLedger(path)
    let commits = 0
    const stop = ledger.observe(
      { committed: () => commits++, changed: () => {}, failed: () => {} },
      { watchOthers: false },
    )
    const engine = await openEngine({ ledger, maxConcurrent: 10, executors: { trivial: () => null } })
    await engine.create(Array.from({ length: 200 }, () => ({ executor: 'trivial', autoStart: false })))
    commits = 0
    await engine.startHeld()
    stop()
    // One to start them, one that admits the first wave, and one for each of the twenty.
    expect(commits).toBeLessThanOrEqual(24)
    expect((await engine.list({ status: 'completed', limit: 0 })).total).toBe(200)
  })

  it('a wave of runs never fills more slots than there are, whatever ends and becomes ready meanwhile', async () => {
    let running = 0
    let most = 0
    const engine = await openEngine({
      maxConcurrent: 3,
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          most = Math.max(most, ++running)
          if (run.number === 1 && Math.random() < 0.5) await run.call('step', () => 1)
          running--
        },
      },
    })
    await Promise.all(Array.from({ length: 60 }, () => engine.create({ executor: 'work' })))
    await engine.idle()
    expect(most).toBe(3)
  })
})

describe('the time-out of a run', () => {
  it('the time-out of a run is applied beside hundreds that are overdue and belong to an engine that hangs', async () => {
    const ledger = await openLedger(':memory:')
    const clock = new SimulatedClock()
    const hangs = createHangable(ledger)
    const hanging = puppet()
    // Not closed: it hangs until the end, within its lease.
    const other = await createEngine({
      ledger: hangs.ledger,
      clock,
      leaseMs: 3_600_000,
      maxConcurrent: 250,
      executors: { foreign: hanging.executor },
    })
    await other.create(Array.from({ length: 220 }, () => ({ executor: 'foreign' as const, timeoutMs: 100 })))
    await hanging.started(219)
    hangs.hang()
    await pass(clock, 1_000)
    const hands = puppet()
    const engine = await openEngine({ ledger, clock, executors: { own: hands.executor } })
    const task = await engine.create({ executor: 'own', timeoutMs: 500 })
    await hands.started(0)
    await pass(clock, 700)
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    expect((await engine.list({ status: 'working', limit: 0 })).total).toBe(220)
  })
})

describe('a clock that jumps a day forward and back', () => {
  it('a clock that jumps a day forward and back does not delay taking over from an engine that hangs', async () => {
    const ledger = await openLedger(':memory:')
    const clock = new SimulatedClock()
    const hangs = createHangable(ledger)
    const hanging = puppet()
    // Not closed: it hangs until the end.
    const other = await createEngine({
      ledger: hangs.ledger,
      clock,
      leaseMs: 3_000,
      executors: { work: hanging.executor },
    })
    const task = await other.create({ executor: 'work' })
    await hanging.started(0)
    hangs.hang()
    const engine = await openEngine({ ledger, clock, leaseMs: 3_000, executors: { work: () => 'done' } })
    const day = 86_400_000
    clock.jumpTo(clock.now() + day)
    await pass(clock, 400)
    clock.jumpTo(clock.now() - day)
    await pass(clock, 10_000)
    expect((await engine.get(task.id))?.status).toBe('completed')
  })
})

describe('engine.close', () => {
  it('engine.close leaves no timer behind and reports nothing afterwards, though its ledger refused every outcome', async () => {
    const inner = await openLedger(':memory:')
    const ledger = createFaultyLedger(inner)
    const clock = new SimulatedClock()
    const errors: unknown[] = []
    const refused = deferred()
    const engine = await openEngine({
      ledger,
      clock,
      shutdownTimeoutMs: 100,
      executors: { work: () => 'done' },
      onError: (error) => {
        errors.push(error)
        refused.resolve()
      },
    })
    ledger.fail('settle run', 'refused', { persistent: true })
    await engine.create({ executor: 'work' })
    await refused.promise
    // By now it pauses for ten seconds before each retry.
    await pass(clock, 30_000)
    let closed = false
    void engine.close().then(() => (closed = true))
    while (!closed) await pass(clock, 100)
    const before = errors.length
    expect(clock.pending).toBe(0)
    await pass(clock, 20_000)
    expect(errors.length).toBe(before)
    await inner.close()
  })

  it('engine.close is bounded while another process holds the write lock, and the next engine takes over what was left', async () => {
    const path = ledgerFile()
    const hands = puppet({ stubborn: true })
    const options = { ledger: path, shutdownTimeoutMs: 50, abortGraceMs: 50, onError: () => {} }
    const engine = await openEngine({ ...options, executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    const other = new Database(path)
    other.exec('begin immediate')
    // Without the bound this takes twenty seconds: twice the time for which the ledger waits for a lock.
    await engine.close()
    other.exec('rollback')
    other.close()
    const next = await openEngine({ ledger: path, executors: { work: () => 'done' } })
    expect(await next.result(task)).toBe('done')
  }, 19_000)

  it('engine.close on a full disk leaves its runs to another engine at once', async () => {
    const path = ledgerFile()
    const clock = new SimulatedClock()
    const inner = await openLedger(path, clock)
    const ledger = createFaultyLedger(inner)
    const hands = puppet()
    const closing = await createEngine({ ledger, clock, executors: { work: hands.executor }, onError: () => {} })
    const task = await closing.create({ executor: 'work' })
    await hands.started(0)
    ledger.fail(() => true, 'refused', { persistent: true })
    let closed = false
    const end = closing.close().then(() => {
      closed = true
    })
    while (!closed) await pass(clock, 100)
    await end
    const engine = await openEngine({ ledger: path, clock, executors: { work: () => 'done' } })
    await pass(clock, 400)
    expect(await engine.get(task)).toMatchObject({ status: 'completed', result: 'done' })
    await inner.close()
  })
})

/** A ledger whose engine hangs from some time on: nothing that it requests happens, and it lives. */
function createHangable(inner: Ledger) {
  let hanging = false
  const never = () => new Promise<never>(() => {})
  return {
    ledger: delegateLedger(inner, {
      step: ((step) => (hanging ? never() : inner.step(step))) as Ledger['step'],
      read: ((query) => (hanging ? never() : inner.read(query))) as Ledger['read'],
    }),
    hang() {
      hanging = true
    },
  }
}
