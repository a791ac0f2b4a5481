// A suspended run leaves its function alone: no request of it settles, nothing waits for it, and `onSuspend` releases what it holds.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import type { Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { turns } from '../engine/world.ts'
import { aborted, codeOf, createWorld, gate, type WorkFunction, type World } from './world.ts'

type Engine = World['engine']

const hour = 3_600_000

/** What makes a run wait, the event that reports its suspension, and what ends the wait. */
const ways = {
  ask: {
    wait: (run: Run) => run.ask('Ship it?'),
    event: 'task.input_required',
    end: (engine: Engine, id: string) => engine.answer(id, 'yes'),
    result: 'yes',
  },
  sleep: {
    wait: (run: Run) => run.sleep(hour).then(() => 'slept'),
    event: 'task.waiting',
    end: (_engine: Engine, _id: string, clock: SimulatedClock) => clock.increment(hour),
    result: 'slept',
  },
  wait: {
    wait: async (run: Run) => run.wait(await run.spawn({ name: 'by hand', executor: 'other', autoStart: false })),
    event: 'task.waiting',
    end: async (engine: Engine, id: string) => {
      const [child] = await engine.children(id)
      await engine.startHeld()
      return engine.result((child as { id: string }).id)
    },
    result: 'other',
  },
} as const

const eachWay = Object.keys(ways) as Array<keyof typeof ways>

/** A task whose run has been suspended and closed. */
async function suspended(work: WorkFunction, options: Parameters<typeof createWorld>[1] = {}) {
  const world = await createWorld(work, options)
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'run.closed')
  return { ...world, task }
}

/** A ledger in memory that holds back its reports from the first suspension on. */
async function withLateFeed() {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const suspension = gate()
  let held: Array<() => void> | undefined
  const ledger = delegateLedger(inner, {
    observe: (observer, options) =>
      inner.observe(
        {
          committed(events) {
            if (events.some(({ type }) => type === 'task.input_required')) held ??= []
            if (held === undefined) observer.committed(events)
            else held.push(() => observer.committed(events))
            if (held?.length === 1) suspension.resolve()
          },
          changed: () => observer.changed(),
          failed: (error) => observer.failed(error),
        },
        options,
      ),
    close: async () => {},
  })
  const report = () => {
    for (const each of (held ?? []).splice(0)) each()
    held = undefined
  }
  return { ledger, isSuspended: suspension.promise, report }
}

describe('the function of a suspended run', () => {
  it.each(eachWay)('the function of a suspended run catches nothing and runs no finally: %s', async (way) => {
    const { wait, event, end, result } = ways[way]
    const clock = new SimulatedClock()
    const done: string[] = []
    const work: WorkFunction = async (_task, run) => {
      await run.call('charge', () => done.push('charged'))
      try {
        return await wait(run)
      } catch (error) {
        done.push('refunded')
        throw error
      } finally {
        done.push(`finally of run ${run.number}`)
      }
    }
    const { engine, task, eventOf, errors } = await suspended(work, { clock })
    await eventOf(task.id, event)
    await turns()
    expect(done).toEqual(['charged'])
    await end(engine, task.id, clock)
    expect(await engine.result(task)).toBe(result)
    expect(done).toEqual(['charged', 'finally of run 2'])
    expect(errors).toEqual([])
  })

  it('the function of a suspended run sees its signal abort, and its pending and further requests never settle', async () => {
    const goOn = gate()
    const requested = gate()
    const settled: string[] = []
    const { engine, task } = await suspended(async (_task, run) => {
      if (run.number === 2) return 'second'
      const follow = (name: string, request: Promise<unknown>) =>
        request.then(
          () => settled.push(name),
          () => settled.push(name),
        )
      void follow('pending', run.ask('Well?'))
      await aborted(run.signal)
      await goOn.promise
      expect(run.signal.reason).toMatchObject({ code: 'RUN_ENDED' })
      void follow(
        'call',
        run.call('late', () => settled.push('called')),
      )
      void follow('message', run.message('assistant', 'late'))
      void follow('ask', run.ask('Late?'))
      void follow('dependencies', run.dependencies())
      run.emit('late', { store: true })
      requested.resolve()
    })
    goOn.resolve()
    await requested.promise
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('second')
    await turns()
    expect(settled).toEqual([])
    expect(await engine.messages(task)).toEqual([])
    expect((await engine.runs(task)).map(({ number }) => number)).toEqual([1, 2])
  })

  it('the function of a suspended run does not learn of its end from a request that the ledger refuses before the feed reports the end', async () => {
    const { ledger, isSuspended, report } = await withLateFeed()
    const goOn = gate()
    const settled: unknown[] = []
    const world = await createWorld(
      async (_task, run) => {
        if (run.number === 2) return 'second'
        void codeOf(run.ask('Well?')).then((code) => settled.push(code))
        await goOn.promise
        await codeOf(run.call('late', () => settled.push('called'))).then((code) => settled.push(code))
      },
      {},
      ledger,
    )
    const task = await world.engine.create({ executor: 'work' })
    await isSuspended
    goOn.resolve()
    await turns()
    expect(settled).toEqual([])
    report()
    await world.eventOf(task.id, 'run.closed')
    await world.engine.answer(task, 'yes')
    expect(await world.engine.result(task)).toBe('second')
    await turns()
    expect(settled).toEqual([])
  })

  it.each(['returns', 'throws'])('the function of a suspended run is ignored when it %s afterwards', async (how) => {
    const goOn = gate()
    const over = gate()
    const { engine, task, errors } = await suspended(async (_task, run) => {
      if (run.number === 2) return 'second'
      void run.ask('Well?')
      await goOn.promise
      queueMicrotask(over.resolve)
      if (how === 'throws') throw new Error('late')
      // JSON carries no function: of a result that counts, `onError` gets a warning.
      return { late: () => {} }
    })
    goOn.resolve()
    await over.promise
    await turns()
    expect(await engine.get(task)).toMatchObject({ status: 'input_required', result: null, error: null })
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('second')
    expect(errors).toEqual([])
  })

  it('the function of a suspended run occupies no slot, and neither its next run nor close wait for it', async () => {
    const clock = new SimulatedClock()
    const started: number[] = []
    const { engine, task } = await suspended(
      async (_task, run) => {
        started.push(run.number)
        if (run.number === 1) await Promise.all([run.ask('Well?'), new Promise(() => {})])
        return run.ask('Well?')
      },
      { maxConcurrent: 1, clock },
    )
    expect(engine.status.get().context.slots.used).toBe(0)
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('yes')
    expect(started).toEqual([1, 2])
    // The clock stands still: a grace would never be over.
    await engine.close()
  })

  it('the function of a suspended run is mentioned with NODE_DEBUG=errand when it goes on', async () => {
    const program = `
      import { createEngine } from '${new URL('../../dist/index.js', import.meta.url).href}'
      const goOn = Promise.withResolvers()
      const work = async (_task, run) => {
        void run.ask('Well?')
        await goOn.promise
        throw new Error('too late')
      }
      const engine = await createEngine({ ledger: ':memory:', executors: { work } })
      engine.subscribe('run.closed', goOn.resolve)
      await engine.create({ executor: 'work' })
      await goOn.promise
      await engine.close()`
    const args = ['--input-type=module', '--eval', program]
    const env = { ...process.env, NODE_DEBUG: 'errand' }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env })
    expect(stderr).toMatch(/^ERRAND \d+: run 1 of task-\S+ is suspended; its function threw "too late" afterwards/)
    expect([stdout, stderr.trim().split('\n').length]).toEqual(['', 1])
  })
})

describe('a run that waits and is ended otherwise', () => {
  const endings = {
    pause: (engine: Engine, id: string) => engine.pause(id),
    cancel: (engine: Engine, id: string) => engine.cancel(id),
    'time-out': (_engine: Engine, _id: string, clock: SimulatedClock) => clock.increment(1_000),
    'close of the engine': (engine: Engine, _id: string, clock: SimulatedClock) => {
      const closing = engine.close()
      // The call in flight ends with the time that `close` gives it.
      clock.increment(1_000)
      return closing
    },
  }

  it.each(
    eachWay.flatMap((way) => (Object.keys(endings) as Array<keyof typeof endings>).map((how) => [way, how] as const)),
  )(
    'a run that waits and is ended otherwise rejects its requests and calls nothing of onSuspend: %s, %s',
    async (way, how) => {
      const code = gate<unknown>()
      const waiting = gate()
      const clock = new SimulatedClock()
      const calls: string[] = []
      const world = await createWorld(
        async (_task, run) => {
          run.onSuspend(() => calls.push('released'))
          // A call in flight keeps the run open.
          void run.call('busy', (_params, { signal }) => aborted(signal))
          const waits = ways[way].wait(run)
          await run.progress(0.5)
          waiting.resolve()
          code.resolve(await codeOf(waits))
        },
        { clock },
      )
      const task = await world.engine.create({ executor: 'work', timeoutMs: 1_000 })
      await waiting.promise
      await endings[how](world.engine, task.id, clock)
      expect(await code.promise).toBe('RUN_ENDED')
      expect(calls).toEqual([])
    },
  )
})

describe('run.onSuspend', () => {
  it.each(eachWay)(
    'run.onSuspend calls what is registered once, the last first, at the suspension: %s',
    async (way) => {
      const calls: string[] = []
      const clock = new SimulatedClock()
      const { engine, task, errors } = await suspended(
        async (_task, run) => {
          const hold = (name: string) => run.onSuspend(() => calls.push(`${name} of run ${run.number}`))
          hold('first')
          const unregister = hold('unregistered')
          run.onSuspend(() => {
            calls.push(`aborted: ${run.signal.aborted}`)
            throw new Error('no longer there')
          })
          hold('last')
          unregister()
          return ways[way].wait(run)
        },
        { clock },
      )
      expect(calls).toEqual(['last of run 1', 'aborted: true', 'first of run 1'])
      await ways[way].end(engine, task.id, clock)
      expect(await engine.result(task)).toBe(ways[way].result)
      expect(calls).toHaveLength(3)
      expect(errors).toMatchObject([{ message: 'no longer there' }])
    },
  )

  it('run.onSuspend of a run that completes or fails calls nothing', async () => {
    const calls: number[] = []
    const world = await createWorld(async (_task, run) => {
      run.onSuspend(() => calls.push(run.attempt))
      if (run.attempt === 1) throw new Error('again')
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2, backoffMs: 0 } })
    expect(await world.engine.result(task)).toBe('done')
    await world.engine.idle()
    expect(calls).toEqual([])
  })

  it('run.onSuspend delays the next run until a returned promise has settled', async () => {
    const release = gate()
    const order: string[] = []
    const world = await createWorld(async (_task, run) => {
      order.push(`run ${run.number}`)
      run.onSuspend(async () => {
        await release.promise
        order.push('released')
      })
      return run.ask('Well?')
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, 'yes')
    await turns()
    expect(order).toEqual(['run 1'])
    release.resolve()
    expect(await world.engine.result(task)).toBe('yes')
    expect(order).toEqual(['run 1', 'released', 'run 2'])
  })

  it('run.onSuspend delays the next run no longer than abortGraceMs', async () => {
    const clock = new SimulatedClock()
    const world = await createWorld(
      async (_task, run) => {
        run.onSuspend(() => new Promise(() => {}))
        return run.ask('Well?')
      },
      { clock, abortGraceMs: 1_000 },
    )
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, 'yes')
    await turns()
    expect(await world.engine.runs(task)).toHaveLength(1)
    clock.increment(1_000)
    expect(await world.engine.result(task)).toBe('yes')
  })

  it('run.onSuspend of a function that goes on after the suspension calls at once, and reports a rejection', async () => {
    const goOn = gate()
    const released = gate()
    const { errors, onError, task } = await suspended(async (_task, run) => {
      void run.ask('Well?')
      await goOn.promise
      run.onSuspend(async () => {
        released.resolve()
        throw new Error('not closed')
      })
    })
    const reported = gate()
    onError(reported.resolve)
    goOn.resolve()
    await released.promise
    await reported.promise
    expect(errors).toMatchObject([{ message: 'not closed' }])
    expect(task.id).toBeTypeOf('string')
  })

  it('run.onSuspend works in the function of a call and in the handler of an ability, and refuses what is no function', async () => {
    const calls: string[] = []
    const refused = gate<unknown>()
    const open = defineAbility({
      id: 'test:open',
      description: 'Opens a connection.',
      input: z.object({}),
      output: z.null(),
      handle: (_input, { run }) => {
        run?.onSuspend(() => calls.push('of the ability'))
        return null
      },
    })
    const world = await createWorld(
      async (_task, run) => {
        try {
          run.onSuspend('close' as never)
        } catch (error) {
          refused.resolve(error)
        }
        await run.call('open', () => void run.onSuspend(() => calls.push('of the call')))
        await run.invoke(open)
        return run.ask('Well?')
      },
      { abilities: [open] },
    )
    const task = await world.engine.create({ executor: 'work' })
    expect(await refused.promise).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'run.onSuspend expects a function to call, got string.',
    })
    await world.eventOf(task.id, 'run.closed')
    expect(calls).toEqual(['of the ability', 'of the call'])
  })
})
