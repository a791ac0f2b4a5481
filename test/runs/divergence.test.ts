// The divergence guard: a call that is not in the journal is held while completed calls have not been requested again.
// It is released when they are, refused when they never are, and never blocks what ends a run.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import type { EngineOptions, ExecutorMap } from '../../src/engine/engine-api.ts'
import { type CallRecord, identOf } from '../../src/entities/call.ts'
import type { EventType } from '../../src/entities/event.ts'
import { defineExecutor, type ExecutorDefinition, type Run } from '../../src/entities/executor.ts'
import type { MessageRecord } from '../../src/entities/message.ts'
import { RunJournal } from '../../src/machines/run-journal.ts'
import { saveCall } from '../../src/operations/steps/save-call.ts'
import { callRow, messageRow } from '../ledger/factories.ts'
import { divergenceWaitMs, HoldingClock } from './holding-clock.ts'
import { aborted, codeOf, createWorld, gate, type WorkFunction } from './world.ts'

/** Delay of the first run: time passes only when the test lets it. */
const restMs = 50

/**
 * An engine on a clock of its own, whose task has had its first run; `diverged` are the events of calls that were made
 * nevertheless; `made` has the names of the calls whose functions were executed.
 */
async function setup(
  work: (run: Run, call: (name: string, params?: unknown, options?: object) => Promise<unknown>) => Promise<unknown>,
  more: Partial<ExecutorDefinition> & { engine?: Partial<EngineOptions<ExecutorMap>>; rests?: EventType } = {},
) {
  const { engine: engineOptions, rests = 'task.waiting', ...definition } = more
  const clock = new HoldingClock()
  const made: string[] = []
  const run: WorkFunction = (_task, live) =>
    work(live, (name, params, options) => live.call(name, params ?? null, () => void made.push(name), options))
  const executor = defineExecutor({ ...definition, divergenceWaitMs, run: run as never })
  const executors = { work: executor, other: async () => 'other', ...engineOptions?.executors }
  const world = await createWorld(executor, { clock, ...engineOptions, executors: executors as never })
  const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
  await world.eventOf(task.id, rests)
  const diverged = async () => {
    const events = []
    for await (const event of world.engine.events({ taskId: task.id, follow: false })) events.push(event)
    return events.filter(({ type, data }) => type === 'task.diverged' && 'call' in data).map(({ data }) => data)
  }
  return { ...world, clock, made, task, diverged }
}

/** The error that the task fails with when the run requests nothing more. */
async function refusal({ engine, clock, task }: Awaited<ReturnType<typeof setup>>) {
  const outcome = await clock.until(engine.settled(task))
  if (outcome.status !== 'failed') throw new Error(`The task is ${outcome.status}`)
  return outcome.error
}

describe('a call that is not in the journal', () => {
  it('a call that is not in the journal is refused when its params contain the time of the run: the card is charged once', async () => {
    const clock = new HoldingClock()
    const charged: number[] = []
    const work = async (_task: unknown, run: Run) => {
      await run.call('charge', { at: clock.now() }, ({ at }) => charged.push(at))
      await run.sleep(restMs)
    }
    const { engine, eventOf } = await createWorld(defineExecutor({ divergenceWaitMs, run: work as never }), { clock })
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 3 } })
    await eventOf(task.id, 'task.waiting')
    const outcome = await clock.until(engine.settled(task))
    expect(charged).toHaveLength(1)
    const [call] = await engine.calls(task)
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        code: 'CALL_DIVERGED',
        details: { call: 'charge', unasked: [{ callId: call?.id, kind: 'call', name: 'charge' }], nearest: call?.id },
      },
    })
    const message = outcome.status === 'failed' ? outcome.error.message : ''
    expect(message).toContain('The call "charge" was not made in run 2')
    expect(message).toMatch(new RegExp(`\`at\` was ${charged[0]}, now \\d+\\.`))
    expect(message).toContain('run.now()')
    expect(message).toContain('`key`')
    expect(message).toContain("divergence: 'allow'")
    expect((await engine.get(task))?.attempt).toBe(1)
  })

  it('a call that is not in the journal is refused when it was renamed while the task slept', async () => {
    let name = 'charge'
    const world = await setup(async (run, call) => {
      await call(name, { amount: 5 })
      await run.sleep(restMs)
    })
    name = 'charge-card'
    const error = await refusal(world)
    expect(error.code).toBe('CALL_DIVERGED')
    expect(error.message).toContain('`charge` was recorded with these params; the run now asks for `charge-card`')
    expect(world.made).toEqual(['charge'])
  })

  it('a call that is not in the journal is made as soon as the completed calls have been requested again, and no event reports it', async () => {
    const io = gate()
    const world = await setup(async (run, call) => {
      const slow = async () => {
        if (run.number > 1) await io.promise
        await call('a')
        await call('b')
      }
      await Promise.all([run.number > 1 ? call('new') : run.sleep(restMs), slow()])
    })
    await world.clock.until(world.clock.holding())
    expect(world.made).toEqual(['a', 'b'])
    io.resolve()
    await world.engine.result(world.task)
    expect(world.made).toEqual(['a', 'b', 'new'])
    expect(await world.diverged()).toEqual([])
    expect(world.clock.isHolding).toBe(false)
  })

  it('a call that is not in the journal is held, whether call, ability or child, until the completed calls and children are requested again', async () => {
    const ability = defineAbility({
      id: 'test:note',
      description: 'Notes.',
      input: z.object({}),
      output: z.null(),
      handle: () => null,
    })
    const ways: Array<[string, (run: Run) => Promise<unknown>, unknown]> = [
      ['a call', (run) => run.call('other', () => 1), { kind: 'call', name: 'other' }],
      ['an ability', (run) => run.invoke('test:note', {}), { kind: 'call', name: 'test:note' }],
      ['a child', (run) => run.spawn({ executor: 'other' }), { kind: 'spawn', name: 'spawn' }],
    ]
    for (const [before, first, entry] of ways) {
      for (const [after, second] of ways.filter(([way]) => way !== before)) {
        const world = await setup(
          async (run) => {
            await (run.number === 1 ? first(run) : second(run))
            await run.sleep(restMs)
          },
          { engine: { abilities: [ability] } },
        )
        const error = await refusal(world)
        expect([before, after, error.code]).toEqual([before, after, 'CALL_DIVERGED'])
        expect((error.details as { unasked: unknown[] }).unasked).toMatchObject([entry])
        expect(await world.engine.children(world.task)).toHaveLength(before === 'a child' ? 1 : 0)
      }
    }
  })

  it('a call that is not in the journal is not held by questions, waits, sleeps, messages and values that were not requested again', async () => {
    const world = await setup(async (run, call) => {
      if (run.number > 1) return call('new')
      await Promise.all([run.now(), run.uuid(), run.random(), run.message('assistant', 'hello'), run.sleep(restMs)])
      await run.ask('Go on?', null, { timeoutMs: 1, default: 'yes' })
    })
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['new'])
  })

  it('a call that is not in the journal is not held by a call with onInterrupt rerun, nor when it has it itself', async () => {
    const world = await setup(async (run, call) => {
      await call(`look ${run.number}`, null, { onInterrupt: 'rerun' })
      await call('pay')
      await run.sleep(restMs)
    })
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['look 1', 'pay', 'look 2'])
    expect(await world.diverged()).toEqual([])
  })

  it('a call that is not in the journal is not held by entries that other programs store in the ledger', async () => {
    const world = await setup(
      async (run, call) => {
        if (run.number === 1) await run.ask('Go on?')
        else await call('new')
      },
      { rests: 'task.input_required' },
    )
    const theirs = {
      id: 'call-theirs',
      taskId: world.task.id,
      name: 'theirs',
      params: {},
      status: 'completed',
    } as const
    const rest = { details: null, result: {}, error: null, startMessageId: null, endMessageId: null, createdAt: 5 }
    await world.ledger.step(saveCall({ at: 5, instanceId: 'instance-other', call: { ...theirs, ...rest } }))
    expect(await world.engine.calls(world.task)).toMatchObject([{ name: 'theirs', status: 'completed' }])
    await world.engine.answer(world.task, true)
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['new'])
  })
})

describe('the time without requests after which a held call is refused', () => {
  /** A completed call, and then one that is not in the journal. */
  const changed = (between: (run: Run, held: Promise<unknown>) => Promise<unknown> = (_run, held) => held) =>
    setup(async (run, call) => {
      if (run.number > 1) return between(run, call('new'))
      await call('old')
      return run.sleep(restMs)
    })

  it('the time without requests after which a held call is refused starts again with every request of the run', async () => {
    const asking = gate()
    const asked = gate()
    const world = await changed(async (run, held) => {
      await asking.promise
      await run.message('assistant', 'still here')
      asked.resolve()
      await held
    })
    await world.clock.until(world.clock.holding())
    world.clock.increment(divergenceWaitMs * 0.9)
    asking.resolve()
    await asked.promise
    world.clock.increment(divergenceWaitMs * 0.9)
    expect(world.clock.isHolding).toBe(true)
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
  })

  it('the time without requests after which a held call is refused stops while a call of the run executes', async () => {
    const executing = gate()
    const done = gate()
    const long = () => {
      executing.resolve()
      return done.promise
    }
    const world = await changed(async (run, held) => {
      await Promise.all([run.call('long', long, { onInterrupt: 'rerun' }), held])
    })
    await world.clock.until(world.clock.holding())
    await executing.promise
    for (let n = 0; n < 5; n++) world.clock.increment(divergenceWaitMs)
    expect(world.clock.isHolding).toBe(true)
    done.resolve()
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
  })

  it('the time without requests after which a held call is refused counts a blocked event loop as one tick, and ignores jumps of the wall clock', async () => {
    const world = await changed()
    await world.clock.until(world.clock.holding())
    for (let n = 0; n < 10; n++) {
      world.clock.jumpTo(world.clock.now() + 3_600_000)
      world.clock.increment(divergenceWaitMs / 20)
    }
    expect(world.clock.isHolding).toBe(true)
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
  })

  it('the time without requests after which a held call is refused is ten seconds by default', async () => {
    const clock = new HoldingClock()
    const refused = gate<number>()
    const work = async (_task: unknown, run: Run) => {
      if (run.number === 1) {
        await run.call('old', () => 1)
        await run.sleep(restMs)
      }
      const since = clock.now()
      const code = await codeOf(run.call('new', () => 2))
      if (code === 'CALL_DIVERGED') refused.resolve(clock.now() - since)
    }
    const world = await createWorld(work, { clock })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.waiting')
    const waited = await clock.until(refused.promise)
    expect(waited).toBeGreaterThanOrEqual(10_000)
    expect(waited).toBeLessThan(10_500)
  })
})

describe('a held call is not in flight', () => {
  const heldBeside = async (beside: (run: Run) => Promise<unknown>) => {
    const codes: unknown[] = []
    const world = await setup(async (run, call) => {
      if (run.number === 1) {
        await call('old')
        return run.sleep(restMs)
      }
      if (run.number > 2) return 'went on'
      const held = call('new')
      void codeOf(held).then((code) => codes.push(code))
      await beside(run)
      return held
    })
    await world.clock.until(world.clock.holding())
    return { ...world, codes }
  }

  it('a held call is not in flight, so its run can be suspended', async () => {
    const { engine, task, eventOf, clock, codes, made } = await heldBeside((run) => run.ask('Go on?'))
    await eventOf(task.id, 'task.input_required')
    expect(clock.isHolding).toBe(false)
    expect(codes).toEqual([])
    await engine.answer(task, true)
    expect(await engine.result(task)).toBe('went on')
    expect(made).toEqual(['old'])
  })

  it('a held call is not in flight, so its run can be paused', async () => {
    const { engine, task, eventOf, clock, codes, made } = await heldBeside(async () => {})
    await engine.pause(task)
    await eventOf(task.id, 'run.closed')
    expect(clock.isHolding).toBe(false)
    expect(codes).toEqual(['RUN_ENDED'])
    await engine.resume(task)
    expect(await engine.result(task)).toBe('went on')
    expect(made).toEqual(['old'])
  })

  it('a held call is not in flight, so its engine closes at once', async () => {
    const { engine, clock, codes } = await heldBeside(async () => {})
    await engine.close()
    expect(clock.isHolding).toBe(false)
    expect(codes).toEqual(['RUN_ENDED'])
  })

  it('a held call is not in flight, so an executor that does not await it ends', async () => {
    const world = await setup(async (run, call) => {
      if (run.number === 1) {
        await call('old')
        await run.sleep(restMs)
      }
      void call('new').catch(() => {})
      return 'done'
    })
    expect(await world.clock.until(world.engine.result(world.task))).toBe('done')
    expect(world.made).toEqual(['old'])
    expect(world.clock.isHolding).toBe(false)
  })
})

describe("divergence: 'allow'", () => {
  const renamed =
    (options?: object) =>
    async (run: Run, call: (name: string, params?: unknown, options?: object) => Promise<unknown>) => {
      await call(`charge ${run.number}`, { amount: 5 }, options)
      await run.sleep(restMs)
    }
  const reported = { run: 2, call: 'charge 2', entries: ['call charge 1'], unasked: 1 }

  it("divergence: 'allow' on a call makes the call, with an event in the same commit", async () => {
    const world = await setup(renamed({ divergence: 'allow' }))
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['charge 1', 'charge 2'])
    const [event] = await world.diverged()
    expect(event).toMatchObject(reported)
    expect(event?.['callId']).toBe((await world.engine.calls(world.task))[1]?.id)
  })

  it("divergence: 'allow' on a child or an ability makes it, with an event in the same commit", async () => {
    const ability = defineAbility({
      id: 'test:note',
      description: 'Notes.',
      input: z.object({}),
      output: z.null(),
      handle: () => null,
    })
    const world = await setup(
      async (run) => {
        const allow = { divergence: 'allow' } as const
        if (run.number === 1) await run.call('old', () => 1)
        else await Promise.all([run.spawn({ executor: 'other' }, allow), run.invoke('test:note', {}, allow)])
        await run.sleep(restMs)
      },
      { engine: { abilities: [ability] } },
    )
    await world.clock.until(world.engine.result(world.task))
    const events = await world.diverged()
    expect(events.map(({ call, entries }) => [call, entries])).toEqual([
      ['spawn', ['call old']],
      ['test:note', ['call old']],
    ])
  })

  it("divergence: 'allow' on an executor applies to all of its calls", async () => {
    const world = await setup(renamed(), { divergence: 'allow' })
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['charge 1', 'charge 2'])
    expect(await world.diverged()).toMatchObject([reported])
  })

  it("divergence: 'allow' that is passed to retry applies until the next retry of the task", async () => {
    let version = 1
    const world = await setup(
      async (run, call) => {
        await call(`charge ${version}`)
        if (version < 3) await run.ask(`Go on from ${version}?`)
      },
      { rests: 'task.input_required' },
    )
    version = 2
    await world.engine.answer(world.task, true)
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
    await world.engine.retry(world.task)
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
    expect(world.made).toEqual(['charge 1'])

    await world.engine.bus.call('task:retry', { taskId: world.task.id, divergence: 'allow' })
    const retried = await world.eventOf(world.task.id, 'task.retried', (event) => event.data['attempt'] === 3)
    expect(retried.data['divergence']).toBe('allow')
    const asked = world.eventOf(world.task.id, 'task.input_required', (event) => event.data['run'] === 4)
    await world.clock.until(asked)
    expect(world.made).toEqual(['charge 1', 'charge 2'])
    expect(await world.diverged()).toMatchObject([{ call: 'charge 2', entries: ['call charge 1'] }])

    version = 3
    await world.engine.answer(world.task, true)
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['charge 1', 'charge 2', 'charge 3'])
    expect(await world.diverged()).toMatchObject([{ call: 'charge 2' }, { call: 'charge 3', unasked: 2 }])
  })
})

describe('a call inside a call', () => {
  it('a call inside a call holds nothing when the enclosing call is not made again', async () => {
    const world = await setup(async (run, call) => {
      await run.call('outer', () => call('inner'))
      if (run.number === 1) await run.sleep(restMs)
      await call('next')
    })
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['inner', 'next'])
    expect(await world.diverged()).toEqual([])
  })

  it('a call inside a call holds others while the enclosing call is made again, and is refused although that one executes', async () => {
    const paused = gate()
    const world = await setup(
      async (run, call) => {
        await run.call(
          'outer',
          async () => {
            await call(`inner ${run.number}`)
            if (run.number > 1) return
            paused.resolve()
            await aborted(run.signal)
            throw new Error('broken off')
          },
          { onInterrupt: 'rerun' },
        )
      },
      { rests: 'call.completed' },
    )
    await paused.promise
    await world.engine.pause(world.task)
    await world.eventOf(world.task.id, 'run.closed')
    await world.engine.resume(world.task)
    const error = await refusal(world)
    expect(error).toMatchObject({ code: 'CALL_DIVERGED', details: { call: 'inner 2', unasked: [{ name: 'inner 1' }] } })
    expect(world.made).toEqual(['inner 1'])
    const outer = (await world.engine.calls(world.task)).filter(({ name }) => name === 'outer')
    expect(outer.map(({ status, error: stored }) => [status, stored?.code])).toEqual([
      ['failed', 'CALL_INTERRUPTED'],
      ['failed', 'CALL_DIVERGED'],
    ])
  })

  it('a call inside a call is not confused with an equal call of the executor, in whichever order a later run makes them', async () => {
    const seen: unknown[] = []
    let count = 0
    const world = await setup(async (run) => {
      const next = () => run.call('next', () => ++count)
      const outer = await run.call('outer', async () => [await next(), await next()])
      seen.push([outer, await next(), await run.now()])
      if (run.number === 1) await run.sleep(restMs)
      await next()
    })
    await world.clock.until(world.engine.result(world.task))
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0]).toMatchObject([[1, 2], 3, expect.any(Number)])
    expect(count).toBe(4)
  })

  it('a call inside a call is made again with an event when it moves out of a completed call, because it looks like a new one', async () => {
    const world = await setup(async (run, call) => {
      await run.call('outer', async () => {
        if (run.number === 1) await call('inner')
      })
      if (run.number === 1) await run.sleep(restMs)
      else await call('inner')
    })
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['inner', 'inner'])
    expect(await world.diverged()).toMatchObject([{ call: 'inner', entries: ['call inner'] }])
  })

  it('a call inside a call is found when the enclosing call has another name now', async () => {
    const paused = gate()
    const world = await setup(
      async (run, call) => {
        const outer = async () => {
          await call('inner')
          if (run.number > 1) return
          paused.resolve()
          await aborted(run.signal)
          throw new Error('broken off')
        }
        await run.call(`outer ${run.number}`, outer)
      },
      { rests: 'call.completed' },
    )
    await paused.promise
    await world.engine.pause(world.task)
    await world.eventOf(world.task.id, 'run.closed')
    await world.engine.resume(world.task)
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['inner'])
  })
})

describe('a call that an earlier attempt completed', () => {
  it('a call that an earlier attempt completed holds new calls like one of the present attempt', async () => {
    const world = await setup(
      async (run, call) => {
        await call(`charge ${run.attempt}`)
        throw new Error('on purpose')
      },
      { rests: 'task.failed' },
    )
    expect((await refusal(world)).code).toBe('CALL_DIVERGED')
    expect(world.made).toEqual(['charge 1'])
  })

  it('a call that an earlier attempt completed does not hold new calls when it followed a failed call that is made again: a fallback is not repeated', async () => {
    const world = await setup(
      async (run, call) => {
        await call('before')
        try {
          await run.call('card', () => {
            if (run.attempt === 1) throw new Error('declined')
            return 'paid'
          })
        } catch {
          await call('invoice')
          throw new Error('on purpose')
        }
        await call('receipt')
      },
      { rests: 'task.failed' },
    )
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['before', 'invoice', 'receipt'])
    expect(await world.diverged()).toMatchObject([{ call: 'receipt', entries: ['call invoice'] }])
  })

  it('a call that an earlier attempt completed holds new calls when it came before that failed call', async () => {
    const world = await setup(
      async (run, call) => {
        await call(`before ${run.attempt}`)
        await run.call('card', () => Promise.reject(new Error('declined')))
      },
      { rests: 'task.failed' },
    )
    expect(await refusal(world)).toMatchObject({ code: 'CALL_DIVERGED', details: { unasked: [{ name: 'before 1' }] } })
  })

  it('a call that an earlier attempt completed does not hold new calls when it followed children of which one failed and was retried', async () => {
    const child = async (_task: unknown, run: Run) => {
      if (run.attempt === 1) throw new Error('once')
    }
    const world = await setup(
      async (run, call) => {
        const [one] = await run.spawn([{ executor: 'child' }])
        try {
          await run.wait([one as { id: string }])
        } catch {
          await call('apology')
          throw new Error('on purpose')
        }
        await call('praise')
      },
      { rests: 'task.retried', engine: { executors: { child: child as never } } },
    )
    await world.clock.until(world.engine.result(world.task))
    expect(world.made).toEqual(['apology', 'praise'])
    expect(await world.diverged()).toMatchObject([{ call: 'praise', entries: ['call apology'] }])
  })
})

it('the tool calls of an agent hold nothing: the agent continues from its conversation', () => {
  const step = { calls: [{}, {}] } as unknown as MessageRecord['step']
  const message = { ...messageRow({ id: 'msg-1', taskId: 'task-1', role: 'assistant' }), n: 1, step }
  const call = (id: string, key: string) =>
    ({ ...callRow({ id, taskId: 'task-1', status: 'completed', ident: identOf(key, null) }), seq: 1 }) as CallRecord
  const entries = [call('call-1', 'msg-1#0'), call('call-2', 'msg-1#1'), call('call-3', 'msg-1#2')]
  const journal = new RunJournal(entries, [message as MessageRecord], 1)
  expect(journal.standing.map(({ id }) => id)).toEqual(['call-3'])
  journal.takeAll()
  expect(journal.isStanding).toBe(false)
})
