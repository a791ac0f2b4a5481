// Signals: what a task waits for by name, sent to it from outside, and the waits that take them.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { maxKeptSignals, maxSignalBytes } from '../../src/entities/signal.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, history, ledgerFile, openEngine, reached, refusalOf, turns, typesOf } from '../engine/world.ts'

type Work = (task: ExecutorTask, run: Run) => unknown

async function setup(work: Work, options: object = {}) {
  const engine = await openEngine({ executors: { work }, maxConcurrent: 1, ...options })
  return { engine, task: await engine.create({ executor: 'work' }) }
}

/** Sends signals of one name with these payloads, one after the other. */
async function sendAll(engine: Engine, task: { id: string }, name: string, payloads: readonly unknown[]) {
  for (const payload of payloads) await engine.signal(task, name, payload)
}

describe('a wait for a signal', () => {
  it('suspends the run without a slot, and the next run gets the payload', async () => {
    const runs: number[] = []
    const { engine, task } = await setup(async (_task, run) => {
      runs.push(run.number)
      return run.waitForSignal('paid')
    })
    await reached(engine, task, 'waiting')
    const other = await engine.create({ executor: 'work', name: 'another' })
    await reached(engine, other, 'waiting')
    await engine.signal(task, 'paid', { amount: 12 })
    expect(await engine.result(task)).toEqual({ amount: 12 })
    expect(runs).toEqual([1, 1, 2])
    expect(typesOf(await history(engine, task.id)).filter((type) => type !== 'run.closed')).toEqual([
      'task.created',
      'task.started',
      'task.waiting',
      'signal.received',
      'task.unblocked',
      'task.started',
      'task.completed',
    ])
  })

  it('is what `why` names, with the time at which it ends', async () => {
    const clock = new SimulatedClock(0)
    const { engine, task } = await setup((_task, run) => run.waitForSignal('paid', { timeoutMs: 60_000 }), { clock })
    await reached(engine, task, 'waiting')
    expect(await engine.why(task)).toMatchObject({
      reason: 'signal',
      at: 60_000,
      message:
        'It waits for the signal "paid" since 1970-01-01T00:00:00.000Z, until 1970-01-01T00:01:00.000Z. `signal` sends it.',
    })
  })

  it('is what `why` names without its token when it is for a webhook, also beside a signal', async () => {
    const clock = new SimulatedClock(0)
    let token = ''
    const { engine, task } = await setup(
      async (_task, run) => {
        const hooks = [await run.webhook(), await run.webhook()]
        token = (hooks[0]?.url ?? '').slice('/signals/'.length)
        const signals = ['paid', 'webhook:mine'].map((name) => run.waitForSignal(name))
        await Promise.all([...hooks.map((hook) => hook.wait()), ...signals])
      },
      { clock },
    )
    await reached(engine, task, 'waiting')
    const since = 'since 1970-01-01T00:00:00.000Z.'
    expect((await engine.why(task)).message).toBe(
      `It waits for the signal "paid", "webhook:mine" and calls to its webhooks ${since} \`signal\` sends it.`,
    )
    for (const name of ['paid', 'webhook:mine']) await engine.signal(task, name)
    await engine.bus.call('task:receive', { token })
    await clock.rest()
    expect((await engine.why(task)).message).toBe(`It waits for a call to its webhook ${since}`)
  })

  it('ends in place when the signal comes while the run is still busy', async () => {
    const busy = deferred()
    const { engine, task } = await setup(async (_task, run) => {
      const work = run.call('work', () => busy.promise)
      const paid = await run.waitForSignal('paid')
      await work
      return [paid, run.number]
    })
    await reached(engine, task, 'working')
    await engine.signal(task, 'paid', 'yes')
    busy.resolve()
    expect(await engine.result(task)).toEqual(['yes', 1])
  })

  it('returns null after its time-out, and a signal that comes later is kept for the next wait', async () => {
    const clock = new SimulatedClock(0)
    const { engine, task } = await setup(
      async (_task, run) => {
        const first = await run.waitForSignal('paid', { timeoutMs: 1_000 })
        await run.ask('Go on?')
        return [first, await run.waitForSignal('paid')]
      },
      { clock },
    )
    await reached(engine, task, 'waiting')
    clock.increment(1_000)
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'paid', 'late')
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual([null, 'late'])
  })

  it('returns true for a signal without a payload, and null is refused as one', async () => {
    const { engine, task } = await setup((_task, run) => run.waitForSignal('go', { timeoutMs: 60_000 }))
    for (const payload of [null, { toJSON: () => null }]) {
      await refusalOf(engine.signal(task, 'go', payload), 'INVALID_INPUT')
    }
    await engine.signal(task, 'go')
    expect(await engine.result(task)).toBe(true)
  })

  it('takes the signals of its name only, and of two waits the first one is served first', async () => {
    const { engine, task } = await setup((_task, run) =>
      Promise.all([run.waitForSignal('a'), run.waitForSignal('b'), run.waitForSignal('a')]),
    )
    await reached(engine, task, 'waiting')
    await sendAll(engine, task, 'a', ['first', 'second'])
    await engine.signal(task, 'b', 'other')
    expect(await engine.result(task)).toEqual(['first', 'other', 'second'])
  })

  it('gets in a new attempt what it took in the one before', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const paid = await run.waitForSignal('paid')
      if (run.attempt === 1) throw new Error('on purpose')
      return [paid, await run.waitForSignal('shipped')]
    })
    await sendAll(engine, task, 'paid', [1])
    await reached(engine, task, 'failed')
    await engine.retry(task)
    await reached(engine, task, 'waiting')
    await sendAll(engine, task, 'paid', [2])
    await sendAll(engine, task, 'shipped', [3])
    expect(await engine.result(task)).toEqual([1, 3])
  })

  it('is refused inside a call, which would keep the run open', async () => {
    const waits = defineAbility({
      id: 'test:wait',
      description: 'Waits.',
      input: z.object({}),
      output: z.unknown(),
      handle: (_input, { run }) => run?.waitForSignal('paid'),
    })
    const { engine, task } = await setup((_task, run) => run.invoke('test:wait'), { abilities: [waits] })
    const failed = await reached(engine, task, 'failed')
    expect(failed.error?.message).toContain('run.waitForSignal cannot wait inside a call')
  })
})

describe('a signal that no wait takes', () => {
  it('is kept in the order of arrival, through a restart of the engine', async () => {
    const ledger = ledgerFile()
    const work: Work = async (_task, run) => {
      await run.ask('Go on?')
      const got: unknown[] = []
      for (let n = 0; n < 3; n++) got.push(await run.waitForSignal('n'))
      return got
    }
    const first = await openEngine({ ledger, executors: { work } })
    const task = await first.create({ executor: 'work' })
    await reached(first, task, 'input_required')
    await sendAll(first, task, 'n', [1, 2, 3])
    await first.close()
    const second = await openEngine({ ledger, executors: { work } })
    await second.answer(task, true)
    expect(await second.result(task)).toEqual([1, 2, 3])
  })

  it('is refused when a thousand are kept, and when its payload has more than 256 kB', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Go on?'))
    await engine.signal(task, 'large', 'x'.repeat(maxSignalBytes - 2))
    expect(
      await refusalOf(engine.signal(task, 'large', 'x'.repeat(maxSignalBytes - 1)), 'LIMIT_EXCEEDED'),
    ).toMatchObject({
      details: { bytes: maxSignalBytes + 1, limit: maxSignalBytes },
    })
    const others = Array.from({ length: maxKeptSignals - 1 }, (_, n) => n)
    await Promise.all(others.map((n) => engine.signal(task, `name-${n % 7}`, n)))
    const refusal = await refusalOf(engine.signal(task, 'one more'), 'LIMIT_EXCEEDED')
    expect(refusal.details).toEqual({ taskId: task.id, limit: maxKeptSignals })
  })

  it('that was sent before with the same id changes nothing, whether it was taken or not', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      const got = [await run.waitForSignal('paid')]
      await run.ask('Go on?')
      return [...got, await run.waitForSignal('paid')]
    })
    for (let n = 0; n < 2; n++) await engine.signal(task, 'paid', `order 1, ${n}`, { id: 'evt_1' })
    await reached(engine, task, 'input_required')
    await engine.signal(task, 'paid', 'order 1, again', { id: 'evt_1' })
    for (let n = 0; n < 2; n++) await engine.signal(task, 'paid', `order 2, ${n}`, { id: 'evt_2' })
    await engine.answer(task, true)
    expect(await engine.result(task)).toEqual(['order 1, 0', 'order 2, 0'])
    await engine.signal(task, 'paid', 'after the end', { id: 'evt_2' })
    expect((await history(engine, task.id)).filter(({ type }) => type === 'signal.received')).toHaveLength(2)
  })

  it('is refused when its name or its id holds what not every database keeps', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Go on?'))
    for (const text of ['a\u0000', '\ud800']) {
      await refusalOf(engine.signal(task, text), 'INVALID_INPUT')
      await refusalOf(engine.signal(task, 'go', true, { id: text }), 'INVALID_INPUT')
    }
  })

  it('is refused by a settled task, with its state', async () => {
    const { engine, task } = await setup(() => 'done')
    await engine.result(task)
    const refusal = await refusalOf(engine.signal(task, 'paid'), 'INVALID_TRANSITION')
    expect(refusal.message).toBe(`Cannot send the signal "paid" to ${task.id}: it is completed. It is final.`)
    expect(refusal.details).toMatchObject({ from: 'completed', event: 'signal' })
  })

  it('leaves the ledger with its task', async () => {
    const { engine, task } = await setup((_task, run) => run.ask('Go on?'))
    await sendAll(engine, task, 'n', [1, 2])
    await engine.cancel(task)
    await turns()
    await engine.purge({ before: Date.now() + 1_000 })
    expect(await engine.get(task)).toBe(null)
  })
})

describe('the schema of a wait', () => {
  const schema = z.object({ amount: z.int().min(1).default(5), by: z.string() })

  it('refuses a payload that does not match it, and the wait goes on', async () => {
    const { engine, task } = await setup((_task, run) => run.waitForSignal('paid', { schema }))
    await reached(engine, task, 'waiting')
    const refusal = await refusalOf(engine.signal(task, 'paid', { amount: 0 }), 'INVALID_SIGNAL')
    expect(refusal.details).toMatchObject({ taskId: task.id, issues: [{ path: 'amount' }, { path: 'by' }] })
    await engine.signal(task, 'paid', { by: 'ada' })
    expect(await engine.result(task)).toEqual({ amount: 5, by: 'ada' })
  })

  it('makes the wait fail when the signal was kept, and the next wait gets the next one', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      await run.ask('Go on?')
      const failure = await run.waitForSignal('paid', { schema }).catch((error: unknown) => (error as Error).message)
      await run.ask('And now?')
      return [failure, await run.waitForSignal('paid', { schema })]
    })
    await reached(engine, task, 'input_required')
    await sendAll(engine, task, 'paid', [
      { amount: 0, by: 'ada' },
      { amount: 2, by: 'bob' },
    ])
    await engine.answer(task, true)
    await reached(engine, task, ({ questions }) => questions.some(({ question }) => question === 'And now?'))
    await engine.answer(task, true)
    const [failure, paid] = (await engine.result(task)) as [string, unknown]
    expect(failure).toMatch(/^This payload does not match the schema with which .* waits for the signal "paid": amount/)
    expect(paid).toEqual({ amount: 2, by: 'bob' })
  })

  it('that refuses a signal that was kept lets a new attempt wait for the next one', async () => {
    const { engine, task } = await setup(async (_task, run) => {
      await run.ask('Go on?')
      return run.waitForSignal('paid', { schema })
    })
    await reached(engine, task, 'input_required')
    await sendAll(engine, task, 'paid', ['nonsense', { amount: 2, by: 'bob' }])
    await engine.answer(task, true)
    expect((await reached(engine, task, 'failed')).error).toMatchObject({ code: 'INVALID_SIGNAL' })
    await engine.retry(task)
    expect(await engine.result(task)).toEqual({ amount: 2, by: 'bob' })
  })

  it('that is no schema is refused with the words of a signal', async () => {
    const { engine, task } = await setup((_task, run) => run.waitForSignal('paid', { schema: { typ: 'string' } }))
    const refusal = await engine.result(task).catch((error: unknown) => (error as Error).message)
    expect(refusal).toContain('The schema of a signal has "typ"')
  })
})

it('the redact hook sees the payload of a signal, kept or taken at once', async () => {
  const redact = (value: unknown) => (typeof value === 'string' ? value.replace('secret', '…') : value)
  const { engine, task } = await setup(
    async (_task, run) => {
      await run.ask('Go on?')
      return [await run.waitForSignal('a'), await run.waitForSignal('a')]
    },
    { redact },
  )
  await reached(engine, task, 'input_required')
  await engine.signal(task, 'a', { key: 'secret 1' })
  await engine.answer(task, true)
  await reached(engine, task, 'waiting')
  await engine.signal(task, 'a', { key: 'secret 2' })
  expect(await engine.result(task)).toEqual([{ key: '… 1' }, { key: '… 2' }])
})
