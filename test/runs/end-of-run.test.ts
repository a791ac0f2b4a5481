// How a run ends: suspended when it only waits, at once when it is paused, canceled or timed out; what happens to
// pending requests and calls in flight, and that there are never two live runs of one task.
import { describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { turns } from '../engine/world.ts'
import { aborted, codeOf, createWorld, gate } from './world.ts'

describe('a run that only waits', () => {
  it('a run that only waits is suspended when it is quiet, with several open questions', async () => {
    const world = await createWorld((_task, run) => Promise.all([run.ask('One?'), run.ask('Two?'), run.ask('One?')]))
    const task = await world.engine.create({ executor: 'work' })
    const event = await world.eventOf(task.id, 'task.input_required')
    expect(event.data.waits).toHaveLength(3)
    const questions = (await world.engine.get(task))?.questions ?? []
    expect(questions.map((each) => each.question)).toEqual(['One?', 'Two?', 'One?'])
    for (const [index, { id }] of questions.entries()) await world.engine.answer(task, index, { question: id })
    expect(await world.engine.result(task)).toEqual([0, 1, 2])
    expect(await world.engine.runs(task)).toHaveLength(2)
  })

  it('a run that only waits finishes and records its calls in flight before it is suspended', async () => {
    const slow = gate<string>()
    const asked = gate()
    const world = await createWorld(async (_task, run) => {
      const call = run.call('slow', () => slow.promise)
      const answer = run.ask('Sure?')
      asked.resolve()
      return Promise.all([call, answer])
    })
    const task = await world.engine.create({ executor: 'work' })
    await asked.promise
    await world.eventOf(task.id, 'call.started')
    expect((await world.engine.get(task))?.status).toBe('working')
    slow.resolve('done')
    await world.eventOf(task.id, 'task.input_required')
    expect((await world.engine.calls(task)).map((each) => each.status)).toEqual(['completed'])
    await world.engine.answer(task, 'yes')
    expect(await world.engine.result(task)).toEqual(['done', 'yes'])
  })

  it.each([
    ['a sleep', (run: Run) => run.sleep(5).then(() => 'slept'), 'slept'],
    ['a question with a default', (run: Run) => run.ask('Well?', null, { timeoutMs: 5, default: 'so' }), 'so'],
    [
      'a question that times out',
      (run: Run) => run.ask('Well?', null, { timeoutMs: 5 }).catch((e) => e.code),
      'TIMEOUT',
    ],
    [
      'a wait that times out',
      async (run: Run) => {
        const child = await run.spawn({ name: 'by hand', executor: 'other', autoStart: false })
        return run.wait(child, { timeoutMs: 5 }).catch((error) => error.code)
      },
      'TIMEOUT',
    ],
    [
      'a wait for a child that completes',
      async (run: Run) => run.wait(await run.spawn({ executor: 'other' })),
      'other',
    ],
  ])('a run that only waits continues in place after %s while a call is in flight', async (_what, wait, expected) => {
    const first = gate<unknown>()
    const world = await createWorld(async (_task, run) => {
      const never = run.call('slow', (_params, { signal }) => aborted(signal))
      const winner = await Promise.race([never, wait(run)])
      first.resolve(winner)
      return winner
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await first.promise).toBe(expected)
    expect(await world.engine.result(task)).toBe(expected)
    expect(await world.engine.runs(task)).toHaveLength(1)
    expect(world.errors).toMatchObject([{ code: 'CALL_INTERRUPTED', details: { calls: ['slow'] } }])
  })

  it.each([
    ['question', 'sleep'],
    ['sleep', 'question'],
  ])('a run that only waits continues when one wait of a race is over, requested as %s, %s', async (first) => {
    const world = await createWorld(async (_task, run) => {
      const ask = () => run.ask('Well?').then(() => 'answered')
      const sleep = () => run.sleep(5).then(() => 'slept')
      return Promise.race(first === 'sleep' ? [sleep(), ask()] : [ask(), sleep()])
    })
    const tasks = await world.engine.create(Array.from({ length: 40 }, () => ({ executor: 'work' as const })))
    for (const task of tasks) expect(await world.engine.result(task, { timeoutMs: 5_000 })).toBe('slept')
  })

  it('a run that only waits is not suspended when its sleep ends in the same group of steps', async () => {
    const inner = await openLedger(':memory:')
    const ledger = createFaultyLedger(inner)
    const world = await createWorld(
      async (_task, run) => {
        return Promise.race([run.ask('Well?').then(() => 'answered'), run.sleep(1).then(() => 'slept')])
      },
      {},
      ledger,
    )
    const held = ledger.hold('suspend')
    const task = await world.engine.create({ executor: 'work' })
    await held.reached
    // The sleep ends during the suspension.
    await world.eventOf(task.id, 'timer.fired')
    held.open()
    expect(await world.engine.result(task, { timeoutMs: 5_000 })).toBe('slept')
  })
})

const verbs = {
  pause: (engine: { pause(id: string): unknown }, id: string) => engine.pause(id),
  cancel: (engine: { cancel(id: string): unknown }, id: string) => engine.cancel(id),
  complete: (engine: { complete(id: string): unknown }, id: string) => engine.complete(id),
  fail: (engine: { fail(id: string, why: string): unknown }, id: string) => engine.fail(id, 'enough'),
}

describe('an engine that closes', () => {
  it('an engine that closes lets a call finish whose beginning is being recorded', async () => {
    const asked = gate()
    let made = 0
    const world = await createWorld(async (_task, run) => {
      const called = run.call('charge', () => {
        made += 1
        return 'charged'
      })
      asked.resolve()
      return called
    })
    const task = await world.engine.create({ executor: 'work' })
    await asked.promise
    await world.engine.close()
    const { engine } = await world.another()
    expect(await engine.result(task)).toBe('charged')
    expect((await engine.calls(task)).map((call) => call.status)).toEqual(['completed'])
    expect(made).toBe(1)
  })
})

describe('a run that is ended at once', () => {
  it.each(Object.keys(verbs) as Array<keyof typeof verbs>)(
    'S3-050 S3-055 a run that is ended at once by %s aborts, and rejects all pending requests with RUN_ENDED',
    async (verb) => {
      const codes = gate<unknown[]>()
      const waiting = gate()
      const world = await createWorld(async (_task, run) => {
        const child = await run.spawn({ name: 'child', executor: 'other', autoStart: false })
        const forever = async function* () {
          yield 'token'
          await new Promise(() => {})
        }
        const pending = [
          run.call('busy', (_params, { signal }) => aborted(signal)),
          run.ask('Well?'),
          run.wait(child),
          run.sleep(60_000),
          run.message('assistant', forever()),
        ]
        await run.progress(0.5)
        waiting.resolve()
        codes.resolve(await Promise.all(pending.map(codeOf)))
        // Swallowing the rejection is harmless, and nothing more can be started.
        codes.promise.then(() => run.call('after', () => 'never')).catch(() => {})
        expect(await codeOf(run.call('after', () => 'never'))).toBe('RUN_ENDED')
        expect(await codeOf(run.spawn({ executor: 'other' }))).toBe('RUN_ENDED')
        return 'ignored'
      })
      const task = await world.engine.create({ executor: 'work' })
      await waiting.promise
      await verbs[verb](world.engine, task.id)
      expect(await codes.promise).toEqual(Array(5).fill('RUN_ENDED'))
      await world.eventOf(task.id, 'run.closed')
      const now = await world.engine.get(task)
      expect(now?.result).toBe(null)
      expect((await world.engine.calls(task)).map(({ name, status }) => [name, status])).toEqual([
        ['busy', 'completed'],
      ])
      expect((await world.engine.children(task)).length).toBe(1)
      expect(world.errors).toEqual([])
    },
  )

  it('a run that is ended at once by its time-out fails the attempt with TIMEOUT, and the next attempt waits for it to settle', async () => {
    const settle = gate()
    const started: number[] = []
    const world = await createWorld(async (_task, run) => {
      started.push(run.attempt)
      if (run.attempt === 2) return 'second'
      await aborted(run.signal)
      await settle.promise
      return 'first'
    })
    const task = await world.engine.create({ executor: 'work', timeoutMs: 20, retry: { maxAttempts: 2 } })
    const failed = await world.eventOf(task.id, 'task.failed')
    expect(failed.data).toMatchObject({ error: { code: 'TIMEOUT' }, willRetry: true })
    expect(await world.engine.get(task)).toMatchObject({ status: 'submitted', ready: true, attempt: 2 })
    expect(started).toEqual([1])
    settle.resolve()
    expect(await world.engine.result(task)).toBe('second')
  })

  it('S3-051 a run that is ended at once ignores what its executor returns or throws afterwards', async () => {
    const running = gate()
    const world = await createWorld(async (_task, run) => {
      if (run.number === 3) return 'third'
      if (run.number === 1) running.resolve()
      await aborted(run.signal)
      if (run.number === 2) throw new Error('late')
      return 'late'
    })
    const task = await world.engine.create({ executor: 'work' })
    await running.promise
    await world.engine.pause(task)
    await world.eventOf(task.id, 'run.closed')
    expect(await world.engine.get(task)).toMatchObject({ status: 'paused', result: null })
    await world.engine.resume(task)
    await world.eventOf(task.id, 'task.started', (event) => event.data.run === 2)
    await world.engine.pause(task)
    await world.eventOf(task.id, 'run.closed', (event) => event.data.run === 2)
    expect(await world.engine.get(task)).toMatchObject({ status: 'paused', error: null })
    await world.engine.resume(task)
    expect(await world.engine.result(task)).toBe('third')
  })

  it('a run that is ended at once may still record the result of a call in flight, which the next run finds', async () => {
    let executed = 0
    const inside = gate()
    const finish = gate<string>()
    const world = await createWorld((_task, run) =>
      run.call('slow', () => {
        executed++
        inside.resolve()
        return finish.promise
      }),
    )
    const task = await world.engine.create({ executor: 'work' })
    await inside.promise
    await world.engine.pause(task)
    await world.engine.resume(task)
    expect(await world.engine.get(task)).toMatchObject({ status: 'paused', ready: true })
    finish.resolve('late, but here')
    expect(await world.engine.result(task)).toBe('late, but here')
    expect(executed).toBe(1)
  })

  it('a run that is ended at once closes a call aborted with it as interrupted', async () => {
    const inside = gate()
    const world = await createWorld((_task, run) =>
      run.call('slow', async (_params, { signal }) => {
        inside.resolve()
        await aborted(signal)
        throw signal.reason
      }),
    )
    const task = await world.engine.create({ executor: 'work' })
    await inside.promise
    await world.engine.pause(task)
    await world.eventOf(task.id, 'run.closed')
    expect((await world.engine.calls(task))[0]).toMatchObject({ status: 'failed', error: { code: 'CALL_INTERRUPTED' } })
  })

  it('a run that is ended at once never reaches its executor when it ended in the commit that started it', async () => {
    let runs = 0
    const world = await createWorld(async (_task, run) => {
      runs++
      await aborted(run.signal)
    })
    for (let round = 0; round < 20; round++) {
      const task = await world.engine.create({ executor: 'work' })
      await world.engine.cancel(task)
    }
    await world.engine.idle()
    expect(world.engine.status.get().context.slots.used).toBe(0)
    expect(runs).toBeLessThanOrEqual(20)
    expect(world.errors).toEqual([])
  })
})

describe('an executor that ignores its signal', () => {
  it('X-042 an executor that ignores its signal loses its slot after the grace, and its late result and late calls are refused', async () => {
    const running = gate()
    const finish = gate()
    const late = gate<unknown>()
    const runs: number[] = []
    const world = await createWorld(
      async (_task, run) => {
        runs.push(run.number)
        if (run.number === 2) return 'second'
        const call = run.call('slow', () => finish.promise)
        running.resolve()
        await finish.promise
        late.resolve([await codeOf(call), await codeOf(run.message('assistant', 'late'))])
        return 'late'
      },
      { abortGraceMs: 30, maxConcurrent: 1 },
    )
    const task = await world.engine.create({ executor: 'work' })
    await running.promise
    await world.engine.pause(task)
    await world.engine.resume(task)
    await world.eventOf(task.id, 'run.closed')
    expect(await world.engine.result(task)).toBe('second')
    finish.resolve()
    expect(await late.promise).toEqual(['RUN_ENDED', 'RUN_ENDED'])
    expect(await world.engine.messages(task)).toEqual([])
    expect(runs).toEqual([1, 2])
  })

  it('S3-053 an executor that ignores its signal never runs beside its successor', async () => {
    let live = 0
    let most = 0
    const world = await createWorld(
      async (_task, run) => {
        live++
        most = Math.max(most, live)
        await aborted(run.signal)
        // It reacts to the signal, slowly.
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        live--
      },
      { maxConcurrent: 5 },
    )
    const task = await world.engine.create({ executor: 'work' })
    for (let run = 1; run <= 20; run++) {
      await world.eventOf(task.id, 'task.started', (event) => event.data.run === run)
      await world.engine.pause(task)
      await world.engine.resume(task)
    }
    await world.eventOf(task.id, 'task.started', (event) => event.data.run === 21)
    await world.engine.cancel(task)
    await world.engine.idle()
    expect(most).toBe(1)
    expect(live).toBe(0)
  })
})

describe('a run that has ended is not closed', () => {
  it('a run that has ended is not closed before its call in flight has settled, though it was paused just before its executor returned', async () => {
    const charging = gate()
    const charged = gate<string>()
    const leave = gate()
    let charges = 0
    const inner = await openLedger(':memory:')
    const ledger = createFaultyLedger(inner)
    const world = await createWorld(
      async (_task, run) => {
        if (run.number > 1) return run.call('charge', () => `${++charges}`)
        void run.call('charge', () => {
          charges++
          charging.resolve()
          return charged.promise
        })
        await leave.promise
        return 'returned'
      },
      { abortGraceMs: 60_000, onInterrupt: 'fail' },
      ledger,
    )
    const task = await world.engine.create({ executor: 'work' })
    await charging.promise
    // The executor returns in the very turn in which the pause is committed: the engine has not processed it yet.
    const settling = ledger.hold('settle run')
    leave.resolve()
    await settling.reached
    await world.engine.pause(task)
    settling.open()
    await world.engine.resume(task)
    await turns()
    expect((await world.engine.calls(task)).map(({ status }) => status)).toEqual(['in_progress'])
    expect((await world.engine.runs(task)).map(({ status }) => status)).toEqual(['ending'])
    charged.resolve('charged')
    expect(await world.engine.result(task)).toBe('charged')
    expect(charges).toBe(1)
    expect((await world.engine.calls(task)).map(({ status }) => status)).toEqual(['completed'])
  })

  it('a run that has ended is not closed while a process noted by one of its calls is alive, however long that takes after the grace', async () => {
    const noted = gate()
    const ended = gate()
    const clock = new SimulatedClock()
    const commands: string[] = []
    const world = await createWorld(
      async (_task, run) =>
        run.call(
          'command',
          async (_params, { note, signal }) => {
            commands.push(`begins in run ${run.number}`)
            if (run.number > 1) return 'done'
            await note({ processGroup: { pgid: 999_999, startedAt: 'then', mark: 'ERRAND_CALL_ID=none' } })
            noted.resolve()
            await aborted(signal)
            // It takes longer than the grace to react to the signal: `killGraceMs` is its own setting.
            await ended.promise
            commands.push('ends')
            throw signal.reason
          },
          { onInterrupt: 'rerun' },
        ),
      { abortGraceMs: 1_000, clock },
    )
    const task = await world.engine.create({ executor: 'work' })
    await noted.promise
    await world.engine.pause(task)
    await world.engine.resume(task)
    for (let passed = 0; passed < 10_000; passed += 500) {
      await turns()
      clock.increment(500)
    }
    expect((await world.engine.calls(task)).map(({ status }) => status)).toEqual(['in_progress'])
    expect((await world.engine.runs(task)).map(({ status }) => status)).toEqual(['ending'])
    ended.resolve()
    expect(await world.engine.result(task)).toBe('done')
    expect(commands).toEqual(['begins in run 1', 'ends', 'begins in run 2'])
  })
})

describe('an executor that settles while its calls are in flight', () => {
  it('an executor that settles while its calls are in flight has its outcome at once; the calls are aborted, and closed when they have settled', async () => {
    const stopping = gate()
    const settle = gate<string>()
    const world = await createWorld(async (_task, run) => {
      void run.call('floating', async (_params, { signal }) => {
        await aborted(signal)
        stopping.resolve()
        return settle.promise
      })
      await run.progress(0.5)
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('done')
    await stopping.promise
    expect((await world.engine.calls(task))[0]?.status).toBe('in_progress')
    expect(world.engine.status.get().context.slots.used).toBe(1)
    settle.resolve('recorded')
    await world.eventOf(task.id, 'run.closed')
    expect((await world.engine.calls(task))[0]).toMatchObject({ status: 'completed', result: 'recorded' })
    expect((await world.engine.get(task))?.status).toBe('completed')
  })

  it('an executor that completes while its calls are in flight is reported with the names of the calls, also in the event of its completion', async () => {
    const world = await createWorld(async (_task, run) => {
      void run.call('floating', (_params, { signal }) => aborted(signal).then(() => Promise.reject(signal.reason)))
      await run.call('awaited', () => 1)
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('done')
    await world.eventOf(task.id, 'run.closed')
    expect((await world.eventOf(task.id, 'task.completed')).data).toMatchObject({ inFlight: ['floating'] })
    expect(world.errors).toEqual([
      expect.objectContaining({
        code: 'CALL_INTERRUPTED',
        message:
          'The executor of task #1 (work) returned before these calls had ended: "floating". The task does not wait for them. ' +
          'Await every run.call before the executor returns.',
        details: { taskId: task.id, calls: ['floating'] },
      }),
    ])
    const [floating] = await world.engine.calls(task)
    expect(floating?.error).toMatchObject({
      code: 'CALL_INTERRUPTED',
      message: 'The task completed without waiting for the call "floating": it may have happened',
    })
  })

  it('an executor that throws, or whose calls have all ended, is not reported', async () => {
    const world = await createWorld(async (task, run) => {
      const slow = run.call('slow', (_params, { signal }) => aborted(signal))
      if (task.input === 'throws') throw new Error('no')
      await Promise.race([slow, run.call('quick', () => 1)])
      await run.call('last', () => 1)
      run.call('ended', () => 1).catch(() => {})
      await run.call('later', () => 2)
      throw new Error('no')
    })
    for (const input of ['throws', 'raced']) {
      const task = await world.engine.create({ executor: 'work', input })
      expect((await world.engine.settled(task)).status).toBe('failed')
      expect((await world.eventOf(task.id, 'task.failed')).data).not.toHaveProperty('inFlight')
    }
    expect(world.errors).toEqual([])
  })

  it('an executor that settles while its calls are in flight is not retried before its calls have settled', async () => {
    let live = 0
    const beside: number[] = []
    const world = await createWorld(async (_task, run) => {
      beside.push(live)
      const slow = run.call('slow', async (_params, { signal }) => {
        if (run.attempt === 2) return 'slow'
        live++
        await aborted(signal)
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        live--
        throw signal.reason
      })
      const bad = run.call('bad', () => {
        if (run.attempt === 1) throw new Error('first')
        return 'good'
      })
      return Promise.all([slow, bad])
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    expect(await world.engine.result(task)).toEqual(['slow', 'good'])
    expect(beside).toEqual([0, 0])
    expect((await world.engine.calls(task)).map(({ name, status, attempt }) => `${name} ${status} ${attempt}`)).toEqual(
      ['slow failed 1', 'bad failed 1', 'slow completed 2', 'bad completed 2'],
    )
  })

  it('an executor that settles while its calls are in flight has a lasting outcome after a crash, and its calls in flight are failed', async () => {
    const stopping = gate()
    const world = await createWorld(async (_task, run) => {
      void run.call('floating', async (_params, { signal }) => {
        await aborted(signal)
        stopping.resolve()
        return new Promise(() => {})
      })
      await run.progress(0.5)
      return 'done'
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    await stopping.promise
    world.die()
    const second = await world.another()
    expect(await second.engine.result(task)).toBe('done')
    expect((await second.engine.calls(task))[0]).toMatchObject({
      status: 'failed',
      error: { code: 'CALL_INTERRUPTED' },
    })
    await second.engine.idle()
  })
})

describe('a call of a run', () => {
  it('a call of a run is retried inside the run by its policy, under one call id and in one row', async () => {
    const ids: string[] = []
    const world = await createWorld((_task, run) =>
      run.call(
        'flaky',
        (_params, { callId }) => {
          ids.push(callId)
          if (ids.length < 3) throw new Error('again')
          return 'third'
        },
        { retry: { maxAttempts: 3, backoffMs: 0.5 } },
      ),
    )
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toBe('third')
    expect(new Set(ids).size).toBe(1)
    expect(await world.engine.calls(task)).toHaveLength(1)
  })

  it('a call of a run aborts and fails with TIMEOUT when it takes longer than its timeoutMs', async () => {
    const stopped = gate()
    const world = await createWorld((_task, run) =>
      run.call('slow', (_params, { signal }) => aborted(signal).then(stopped.resolve), { timeoutMs: 10 }),
    )
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } })
    await stopped.promise
  })

  it('a call of a run that has noted a process is neither recorded nor retried before that has ended, whatever its timeoutMs', async () => {
    const noted = gate()
    const ended = gate()
    const clock = new SimulatedClock()
    const commands: string[] = []
    const world = await createWorld(
      (_task, run) =>
        run.call(
          'command',
          async (_params, { note, signal }) => {
            commands.push('begins')
            if (commands.length > 1) return 'done'
            await note({ processGroup: { pgid: 999_999, startedAt: 'then', mark: 'ERRAND_CALL_ID=none' } })
            noted.resolve()
            await aborted(signal)
            await ended.promise
            commands.push('ends')
            throw signal.reason
          },
          { timeoutMs: 500, retry: { maxAttempts: 2, on: ['TIMEOUT'] } },
        ),
      { clock },
    )
    const task = await world.engine.create({ executor: 'work' })
    await noted.promise
    clock.increment(600)
    await turns()
    expect((await world.engine.calls(task)).map(({ status }) => status)).toEqual(['in_progress'])
    expect(commands).toEqual(['begins'])
    ended.resolve()
    expect(await world.engine.result(task)).toBe('done')
    expect(commands).toEqual(['begins', 'ends', 'begins'])
  })

  it('a call of a run that throws synchronously with a timeoutMs leaves no timer that rejects unhandled', async () => {
    const world = await createWorld(async (_task, run) => {
      const code = await codeOf(
        run.call(
          'bad',
          () => {
            throw Object.assign(new Error('sync'), { code: 'SYNC' })
          },
          { timeoutMs: 5 },
        ),
      )
      await run.sleep(20)
      return code
    })
    const task = await world.engine.create({ executor: 'work' })
    // The first run gets the error itself, a later one the recorded error.
    expect(['SYNC', 'CALL_FAILED']).toContain(await world.engine.result(task))
  })
})

describe('a failure', () => {
  it('a failure that is final is not retried, whatever the policy', async () => {
    let runs = 0
    const world = await createWorld(async () => {
      runs++
      throw new Failure('never', { retry: false, code: 'NEVER' })
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 5 } })
    expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'NEVER' } })
    expect(runs).toBe(1)
  })

  it('a failure with retryAfterMs is retried after that delay, fractions included', async () => {
    const at: number[] = []
    const world = await createWorld(async (_task, run) => {
      at.push(Date.now())
      if (run.attempt === 1) throw new Failure('later', { retryAfterMs: 100 / 3 })
      return 'ok'
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2, backoffMs: 60_000 } })
    expect(await world.engine.result(task)).toBe('ok')
    expect((at[1] as number) - (at[0] as number)).toBeGreaterThanOrEqual(33)
  })
})

describe('a clock with fractions of a millisecond', () => {
  it('a clock with fractions of a millisecond causes no step to be refused by the tables', async () => {
    const world = await createWorld(async (_task, run) => {
      await run.sleep(0.5)
      return run.ask('Well?', null, { timeoutMs: 1.5, default: 'so' })
    })
    const task = await world.engine.create({ executor: 'work', timeoutMs: 60_000.5, notBefore: Date.now() + 1.5 })
    expect(await world.engine.result(task)).toBe('so')
    expect(world.errors).toEqual([])
  })
})

it('a time-out of a run is judged by an engine that has its retry policy, not by the first to notice it', async () => {
  const ledger = await openLedger(':memory:')
  const [hisTime, myTime] = [new SimulatedClock(), new SimulatedClock()]
  const running = gate()
  const work = defineExecutor({
    timeoutMs: 1_000,
    retry: { maxAttempts: 2 },
    run: async (_task, run) => {
      if (run.attempt === 2) return 'second'
      running.resolve()
      return aborted(run.signal).then(() => 'first')
    },
  })
  const owner = await createWorld(work, { clock: hisTime }, ledger)
  const other = await createWorld(work, { clock: myTime, executors: { other: async () => 'other' } }, ledger)
  const task = await owner.engine.create({ executor: 'work' })
  await running.promise
  myTime.increment(2_000)
  await other.engine.result(await other.engine.create({ executor: 'other' }))
  expect((await other.engine.get(task))?.status).toBe('working')
  hisTime.increment(2_000)
  expect(await owner.engine.result(task)).toBe('second')
})

describe('the only slot of an engine', () => {
  it.each(['pause', 'ask', 'wait', 'sleep'])(
    'S3-061 the only slot of an engine is free for other tasks while a task is stopped by %s',
    async (how) => {
      const running = gate()
      const world = await createWorld(
        async (_task, run) => {
          running.resolve()
          if (how === 'ask') await run.ask('Well?')
          if (how === 'wait') await run.wait(await run.spawn({ executor: 'other', autoStart: false }))
          if (how === 'sleep') await run.sleep(3_600_000)
          await aborted(run.signal)
        },
        { maxConcurrent: 1 },
      )
      const task = await world.engine.create({ executor: 'work' })
      await running.promise
      if (how === 'pause') await world.engine.pause(task)
      expect(await world.engine.result(await world.engine.create({ executor: 'other' }))).toBe('other')
      expect((await world.engine.get(task))?.status).toMatch(/paused|input_required|waiting/)
    },
  )
})
