// A test moves time, and the engines on the clock do what falls due: nothing here waits for the time of the machine.
import { describe, expect, it } from 'vitest'
import type { Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/index.ts'
import { deferred, ledgerFile, openEngine, puppet, reached } from '../engine/world.ts'

const hour = 3_600_000

/** Counts the timers that are set. */
class CountingClock extends SimulatedClock {
  drawn = 0

  override setTimeout(...timer: Parameters<SimulatedClock['setTimeout']>): unknown {
    this.drawn += 1
    return super.setTimeout(...timer)
  }
}

describe('advance', () => {
  it('waits for a call in progress, so that a sleep that follows it begins before time passes', async () => {
    const clock = new SimulatedClock(0)
    const prepared = deferred()
    const engine = await openEngine({
      clock,
      executors: {
        async daily(_task: unknown, run: Run) {
          await run.call('prepare', () => prepared.promise)
          await run.sleep('1d')
          return run.call('wake', () => clock.now())
        },
      },
    })
    const task = await engine.create({ executor: 'daily' })
    const day = clock.advance('1d')
    expect(clock.now()).toBe(0)
    prepared.resolve()
    await day
    expect(await engine.get(task)).toMatchObject({ status: 'completed', result: 24 * hour })
  })

  it('does what falls due at its own time, in order, also what follows from it', async () => {
    const clock = new SimulatedClock(0)
    const woken: string[] = []
    const engine = await openEngine({
      clock,
      executors: {
        async every({ input }: { input: { hours: number } }, run: Run) {
          for (let time = 1; ; time++) {
            await run.sleep(input.hours * hour, { key: `${time}` })
            await run.call('wake', { time }, () => woken.push(`${input.hours}h at ${clock.now() / hour}`))
          }
        },
      },
    })
    await engine.create([
      { executor: 'every', input: { hours: 2 } },
      { executor: 'every', input: { hours: 3 } },
    ])
    await clock.advance('5h')
    expect(woken).toEqual(['2h at 2', '3h at 3', '2h at 4'])
    await clock.advance('3h')
    expect(woken.slice(3).toSorted()).toEqual(['2h at 6', '2h at 8', '3h at 6'])
    expect(clock.now()).toBe(8 * hour)
  })

  it('passes the pauses between the tries of a task, and of a call inside of another', async () => {
    const clock = new SimulatedClock()
    let tries = 0
    const refuse = (): never => {
      tries += 1
      throw new Error('busy')
    }
    const retry = { maxAttempts: 3, backoffMs: hour, backoff: 'fixed', jitter: 0 } as const
    const engine = await openEngine({
      clock,
      executors: {
        failing: refuse,
        calling: (_task: unknown, run: Run) => run.call('outer', () => run.call('inner', refuse, { retry })),
      },
    })
    const tasks = await engine.create([{ executor: 'failing', retry }, { executor: 'calling' }])
    await clock.advance('1h')
    expect(tries).toBe(4)
    await clock.advance('1h')
    expect(tries).toBe(6)
    expect(await Promise.all(tasks.map((task) => engine.get(task)))).toMatchObject(Array(2).fill({ status: 'failed' }))
  })

  it('passes the time that a new call is held for', async () => {
    const clock = new SimulatedClock()
    let isFirst = true
    const engine = await openEngine({
      clock,
      executors: {
        async changed(_task: unknown, run: Run) {
          if (isFirst) await run.call('before', () => null)
          isFirst = false
          await run.sleep('1h')
          await run.call('after', () => null)
        },
      },
    })
    const task = await engine.create({ executor: 'changed' })
    await clock.advance('2h')
    expect(await engine.get(task)).toMatchObject({ status: 'failed', error: { code: 'CALL_DIVERGED' } })
  })

  it('leaves out the upkeep of the engines in between, and neither of two takes the other for dead', async () => {
    const clock = new CountingClock()
    const ledger = await openLedger(ledgerFile())
    const slept = async (_task: unknown, run: Run) => run.sleep(24 * 7 * hour)
    const one = await openEngine({ clock, ledger, executors: { here: slept } })
    const other = await openEngine({ clock, ledger, executors: { there: slept } })
    await clock.rest()
    const before = clock.drawn
    await clock.advance('10w')
    expect(clock.drawn - before).toBeLessThan(20)
    const here = await one.create({ executor: 'here' })
    const there = await other.create({ executor: 'there' })
    await clock.advance('10w')
    expect(await one.get(here)).toMatchObject({ status: 'completed' })
    expect(await one.get(there)).toMatchObject({ status: 'completed' })
    expect(await ledger.read((tx) => tx.instance.open())).toHaveLength(2)
  })

  it('follows those before it that were not awaited, and refuses what is no duration', async () => {
    const clock = new SimulatedClock(0)
    void clock.advance('1h')
    void clock.advance(500)
    await clock.advance('1s')
    expect(clock.now()).toBe(hour + 1_500)
    await expect(clock.advance('soon' as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('does not wait for an engine that closes', async () => {
    const clock = new SimulatedClock()
    const { executor, started } = puppet({ stubborn: true })
    const engine = await openEngine({ clock, executors: { hangs: executor } })
    await engine.create({ executor: 'hangs' })
    await started(0)
    const closing = engine.close()
    await clock.advance('10m')
    await closing
  })
})

describe('idle', () => {
  it('resolves while tasks sleep or wait for an answer, and waits for those that work', async () => {
    const clock = new SimulatedClock()
    const work = puppet()
    const engine = await openEngine({
      clock,
      executors: {
        sleeps: (_task: unknown, run: Run) => run.sleep('1d'),
        asks: (_task: unknown, run: Run) => run.ask('Go on?'),
        works: work.executor,
      },
    })
    const [sleeping, asking] = await engine.create([{ executor: 'sleeps' }, { executor: 'asks' }])
    await engine.idle()
    expect(await engine.get(sleeping)).toMatchObject({ status: 'waiting' })
    expect(await engine.get(asking)).toMatchObject({ status: 'input_required' })
    const working = await engine.create({ executor: 'works' })
    const run = await work.started(0)
    const idle = engine.idle()
    run.end.resolve('done')
    await idle
    expect(await engine.get(working)).toMatchObject({ status: 'completed' })
  })

  it('a time limit of a function that hangs is reached by increment', async () => {
    const clock = new SimulatedClock()
    const hang = puppet()
    const engine = await openEngine({ clock, executors: { hangs: hang.executor } })
    const task = await engine.create({ executor: 'hangs', timeoutMs: '5m' })
    await hang.started(0)
    clock.increment(5 * 60_000)
    await reached(engine, task, 'failed')
  })
})
