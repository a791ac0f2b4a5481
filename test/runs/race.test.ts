// `run.race`: the first of several waits that is over wins, and the others are withdrawn in the same transaction.
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { ledgerFile, openEngine, reached, refusalOf, turns } from '../engine/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'

type Work = (task: ExecutorTask, run: Run) => unknown

async function setup(work: Work, options: object = {}) {
  const ledger = ledgerFile()
  const clock = new SimulatedClock()
  const engine = await openEngine({
    ledger,
    clock,
    executors: { work, other: (_task: unknown, run: Run) => run.waitForSignal('end') },
    ...options,
  })
  return { ledger, clock, engine, task: await engine.create({ executor: 'work' }) }
}

const codeOf = (error: unknown): string => (error as { code: string }).code

describe('the first request that is over', () => {
  it('wins for every later run, and an open question that lost is closed', async () => {
    const { engine, clock, ledger, task } = await setup(async (_task, run) => {
      const colour = await run.race([run.ask('Which colour?', z.string()), run.sleep('1d').then(() => 'blue')])
      await run.ask('Is that right?')
      return colour
    })
    await reached(engine, task, 'input_required')
    expect((await engine.why(task)).message).toContain('"Which colour?"')
    await clock.advance('1d')
    await reached(engine, task, 'input_required')
    const [question] = (await engine.get(task))?.questions ?? []
    expect(question?.question).toBe('Is that right?')
    await engine.answer(task, true)
    expect(await engine.result(task)).toBe('blue')
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('is the answer when it comes first, and the sleep no longer wakes the task', async () => {
    const { engine, clock, task } = await setup(async (_task, run) => {
      const colour = await run.race([run.ask('Which colour?', z.string()), run.sleep('1d').then(() => 'blue')])
      return [colour, await run.waitForSignal('end')]
    })
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'red')
    const { run } = await reached(engine, task, 'waiting')
    await clock.advance('2d')
    expect(await engine.get(task)).toMatchObject({ status: 'waiting', run })
    await engine.signal(task, 'end', 1)
    expect(await engine.result(task)).toEqual(['red', 1])
  })

  it('may be the end of a task, whose failure rejects the race', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const child = await run.spawn({ executor: 'other' })
      return run.race([run.wait(child), run.waitForSignal('stop')]).catch(codeOf)
    })
    await reached(engine, task, 'waiting')
    const [child] = await engine.children(task)
    await engine.cancel(child as never)
    expect(await engine.result(task)).toBe('CHILD_FAILED')
  })

  it('takes a signal that was sent earlier, and the requests after it take none', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      await run.ask('Go on?')
      const seen: unknown[] = []
      for (let n = 0; n < 3; n++) {
        seen.push(
          await run.race([
            run.waitForSignal('a').then((payload) => ['a', payload]),
            run.waitForSignal('b').then((payload) => ['b', payload]),
          ]),
        )
      }
      return seen
    })
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'b', 1)
    await engine.signal(task, 'a', 2)
    await engine.signal(task, 'b', 3)
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual([
      ['a', 2],
      ['b', 1],
      ['b', 3],
    ])
  })

  it('leaves a signal for the next wait that comes after the race is over', async () => {
    const { engine, clock, task } = await setup(async (_task, run) => {
      const first = await run.race([run.waitForSignal('paid'), run.sleep('1h').then(() => 'late')])
      await run.ask('Go on?')
      return [first, await run.waitForSignal('paid')]
    })
    await reached(engine, task, 'waiting')
    await clock.advance('1h')
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'paid', 12)
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual(['late', 12])
  })
})

describe('a race', () => {
  it('goes on after a restart of the engine, with what its requests have waited so far', async () => {
    const work: Work = (_task, run) => run.race([run.sleep('2h').then(() => 'slept'), run.ask('Go on?')])
    const { engine, clock, ledger, task } = await setup(work)
    await reached(engine, task, 'input_required')
    await clock.advance('1h')
    await engine.close()
    const again = await openEngine({ ledger, clock, executors: { work } })
    await clock.advance('1h')
    expect(await again.result(task.id)).toBe('slept')
  })

  it('stands in a new attempt when its winner has completed, and is run anew when it failed', async () => {
    const { engine, clock, task } = await setup(async (_task, run) => {
      const one = await run.race([run.ask('One?'), run.sleep('1h').then(() => 'slept')])
      const two = await run.race([run.ask('Two?', null, { timeoutMs: '1h' }), run.waitForSignal('two')]).catch(codeOf)
      if (run.attempt === 1) throw new Error(String(two))
      return [one, two]
    })
    await reached(engine, task, 'input_required')
    await clock.advance('1h')
    await reached(engine, task, 'input_required')
    await clock.advance('1h')
    expect((await reached(engine, task, 'failed')).error?.message).toBe('TIMEOUT')
    await engine.retry(task)
    const { questions } = await reached(engine, task, 'input_required')
    expect(questions.map(({ question }) => question)).toEqual(['Two?'])
    await engine.signal(task, 'two', 2)
    expect(await engine.result(task)).toEqual(['slept', 2])
  })

  it('may name requests that were made before it, of which the first that is over wins', async () => {
    const { engine, clock, task } = await setup(async (_task, run) => {
      const [one, two] = [run.waitForSignal('one'), run.sleep('1h')]
      await run.ask('Go on?')
      const winner = await run.race([one.then(() => 'one'), two.then(() => 'two')])
      return [winner, await one.catch(codeOf)]
    })
    await reached(engine, task, 'input_required')
    await clock.advance('1h')
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual(['two', 'WITHDRAWN'])
  })

  it('wins in a run that stays open because a call is in flight', async () => {
    const inCall = Promise.withResolvers<void>()
    const { engine, task } = await setup(async (_task, run) => {
      const call = run.call('slow', () => inCall.promise)
      const winner = await run.race([run.waitForSignal('go'), run.ask('Go on?')])
      inCall.resolve()
      await call
      return [winner, run.number]
    })
    await reached(engine, task, 'working')
    await engine.signal(task, 'go', 'gone')
    expect(await engine.result(task)).toEqual(['gone', 1])
    expect((await engine.get(task))?.questions).toEqual([])
  })

  it('keeps the function in memory while all of its requests do', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const children = await run.spawn([{ executor: 'other' }, { executor: 'other' }])
      const waits = children.map((child, n) => run.wait(child, { inMemory: true }).then((result) => [n, result]))
      return [await run.race(waits), run.number]
    })
    const [, second] = await childrenOf(engine, task)
    await engine.signal(second as never, 'end', 'ended')
    expect(await engine.result(task)).toEqual([[1, 'ended'], 1])
  })

  it('refuses what cannot be withdrawn, before anything else of it begins', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const call = run.call('a', () => 1)
      const refusals = [[call], [], ['text'], undefined].map((list) =>
        run.race(list as never).catch((error: { code: string; message: string }) => `${error.code}: ${error.message}`),
      )
      await call
      return Promise.all(refusals)
    })
    for (const refusal of (await engine.result(task)) as string[]) {
      expect(refusal).toMatch(/^INVALID_INPUT: run\.race takes a list of what run\.ask, /)
    }
  })

  it('rejects as a request that is refused, and none of the others begins', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const question = run.ask('Go on?')
      const refusal = await run.race([question, run.waitForSignal('')]).catch(codeOf)
      await run.waitForSignal('end')
      return [refusal, await question.catch(codeOf)]
    })
    await reached(engine, task, 'waiting')
    await engine.signal(task, 'end')
    expect(await engine.result(task)).toEqual(['INVALID_INPUT', 'WITHDRAWN'])
  })

  it('has the recorded winner also in a run that does not know yet that it is over', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const [one, two] = [run.waitForSignal('one').then(() => 'one'), run.waitForSignal('two').then(() => 'two')]
      await run.call('send', () => engine.signal(task, 'two'))
      await (run.number === 1 ? two : undefined)
      void (run.number === 1 && engine.signal(task, 'one'))
      const winner = await run.race([one, two])
      const first = await run.call('note', () => winner)
      await run.waitForSignal('end')
      return [first, winner]
    })
    await reached(engine, task, 'waiting')
    await engine.signal(task, 'end')
    expect(await engine.result(task)).toEqual(['one', 'one'])
  })

  it('is over with a request that another race begins, and that is over at once', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      await run.ask('Go on?')
      const before = run.sleep('1h')
      await Promise.resolve()
      const stop = run.waitForSignal('stop').then(() => 'stopped')
      const races = [run.race([stop, before]), run.race([stop, run.ask('Or this?')])]
      return [await Promise.all(races), await run.waitForSignal('end')]
    })
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'stop')
    await engine.answer(task, true)
    expect((await reached(engine, task, 'waiting')).questions).toEqual([])
    await engine.signal(task, 'end', 1)
    expect(await engine.result(task)).toEqual([['stopped', 'stopped'], 1])
  })

  it('ends by a message, which ends a wait of it, and the requests that lost take no signal', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const children = await run.spawn([{ executor: 'other' }, { executor: 'other' }])
      const waits = children.map((child, n) => run.wait([child], { settled: true, untilMessage: true }).then(() => n))
      const winner = await run.race([...waits, run.waitForSignal('go')])
      return [winner, await run.ask('Go on?'), await run.waitForSignal('go'), await waits[1]?.catch(codeOf)]
    })
    await reached(engine, task, 'waiting')
    await engine.send(task, 'How far are you?')
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'go', 1)
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual([0, true, 1, 'WITHDRAWN'])
  })

  it('is over with the end of a task, even if that task is retried before the run goes on', async () => {
    const inCall = Promise.withResolvers<void>()
    const work = async (task: ExecutorTask, run: Run) => {
      if (task.input === 'first') return run.call('hold', () => inCall.promise)
      const child = await run.spawn({ executor: 'fails' })
      return run.race([run.wait(child), run.sleep('1h')]).catch(codeOf)
    }
    const fails = async (_task: ExecutorTask, run: Run) => {
      await run.waitForSignal(`go ${run.attempt}`)
      throw new Error('broken')
    }
    const engine = await openEngine({ executors: { work, fails }, limits: { work: 1 } })
    const task = await engine.create({ executor: 'work' })
    await reached(engine, task, 'waiting')
    const [child] = await engine.children(task)
    const holding = await engine.create({ executor: 'work', input: 'first' })
    await reached(engine, holding, 'working')
    await engine.signal(child as never, 'go 1')
    await reached(engine, child as never, 'failed')
    await engine.retry(child as never)
    inCall.resolve()
    expect(await engine.result(task)).toBe('CHILD_FAILED')
  })

  it('leaves no rejection unhandled when it is refused, or when the run has ended', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const returned = Promise.withResolvers<unknown>()
    const { engine, task } = await setup(async (_task, run) => {
      const sleep = () => run.sleep('1h').then(() => 'slept')
      const refused = await run.race([sleep(), Promise.resolve()]).catch(codeOf)
      await run.call('cancel', () => engine.cancel(task)).catch(codeOf)
      returned.resolve([refused, await run.race([sleep(), sleep()]).catch(codeOf)])
    })
    expect(await returned.promise).toEqual(['INVALID_INPUT', 'RUN_ENDED'])
    await turns()
    expect(unhandled).toEqual([])
  })

  it('is closed with its requests when its task is canceled', async () => {
    const { engine, ledger, task } = await setup((_task, run) => run.race([run.ask('Go on?'), run.sleep('1h')]))
    await reached(engine, task, 'input_required')
    await engine.cancel(task)
    await engine.close()
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('answers a question that was withdrawn with a refusal', async () => {
    const { engine, clock, task } = await setup(
      async (_task, run) => {
        await run.race([run.ask('Go on?'), run.sleep('1h')])
        await run.waitForSignal('end')
      },
      { maxConcurrent: 1 },
    )
    const { questions } = await reached(engine, task, 'input_required')
    await clock.advance('1h')
    await reached(engine, task, 'waiting')
    await refusalOf(engine.answer(task, true, { question: questions[0]?.id as string }), 'INVALID_TRANSITION')
  })
})

async function childrenOf(engine: Awaited<ReturnType<typeof openEngine>>, task: { id: string }) {
  for await (const { type } of engine.events({ taskId: task.id })) if (type === 'run.parked') break
  return engine.children(task)
}
