// Crashes at every write find what an executor does wrong, and pass what is right.
import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import type { AnyExecutor, Run } from '../../src/entities/executor.ts'
import { createTestEngine, type DurableOptions, expectDurable } from '../../src/testing/index.ts'

/** Payments by their idempotency key. */
const bank = new Map<string, number>()
const options: DurableOptions = {
  engine: () => ({ onInterrupt: 'rerun', executors: { thank: ({ input }) => `Thank you, ${input}` } }),
  setup: () => bank.clear(),
  effects: () => [...bank.values()],
}

const failure = (executor: AnyExecutor, given = options): Promise<AssertionError> =>
  expectDurable(executor, given).then(
    () => expect.fail('no crash made a difference'),
    (error) => error,
  )

describe('expectDurable', () => {
  it('passes an executor that sleeps, asks, pays once, waits for a signal and spawns a child', async () => {
    const pay = async ({ input }: { input: { amount: number } }, run: Run) => {
      await run.sleep('2d')
      if (!(await run.ask<boolean>('Pay?', { type: 'boolean' }))) return 'refused'
      const token = await run.uuid()
      await run.call('pay', { token }, (_params, { identity }) => {
        bank.set(identity, input.amount)
        return 'paid'
      })
      const parcel = await run.waitForSignal('sent')
      const child = await run.spawn({ executor: 'thank', input: 'Ada' })
      await run.wait([child])
      return { token, parcel, child: child.id, luck: await run.random() }
    }
    const report = await expectDurable(pay, {
      ...options,
      input: { amount: 3 },
      play: async (test, task) => {
        await test.advance('2d')
        await test.answer(task, true)
        await test.signal(task, 'sent', { parcel: 7 })
      },
    })
    expect(report.crashes).toBeGreaterThan(20)
  })

  it('passes effects under the identity of a call, a drawn value or the id of a child', async () => {
    const effects = new Map<string, unknown>()
    const run = async (_task: unknown, run: Run) => {
      const token = await run.uuid()
      const child = await run.spawn({ executor: 'draw' })
      await run.call(
        'pay',
        { token },
        (_params, { identity }) => void effects.set(identity, { token, child: child.id }),
      )
      return (await run.wait([child]))[0]
    }
    const draw = (_task: unknown, run: Run) => run.uuid()
    await expectDurable(run, {
      engine: () => ({ onInterrupt: 'rerun', executors: { draw } }),
      setup: () => effects.clear(),
      effects: () => effects,
    })
  })

  it('passes a time of the run after delays that are drawn', async () => {
    let tries = 0
    const flaky = () => {
      tries += 1
      if (tries % 4 !== 0) throw new Error('not yet')
      return 'done'
    }
    const run = async (_task: unknown, run: Run) => {
      const done = await run.call('flaky', flaky, { retry: { maxAttempts: 9, backoffMs: '1h', jitter: 0.9 } })
      const at = await run.now()
      return { done, at, isWhole: Number.isInteger(at) }
    }
    const setup = () => {
      tries = 0
    }
    await expectDurable(run, { engine: () => ({ onInterrupt: 'rerun' }), setup })
    await using test = await createTestEngine({ executors: { run } })
    setup()
    expect(await test.result(await test.engine.create({ executor: 'run' }))).toMatchObject({ isWhole: true })
  })

  it.each([
    [{ effect: () => 1 }, 'UNKNOWN_OPTION', 'expectDurable has no option "effect". Did you mean "effects"?'],
    [{ engine: { onInterrupt: 'rerun' } }, 'INVALID_INPUT', 'expectDurable is not valid: engine: expected a function.'],
  ])('refuses the options %o', async (given, code, message) => {
    const refused = expectDurable(() => 1, given as never)
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
  })

  it('says what effects it cannot compare', async () => {
    await expect(expectDurable(() => 1, { effects: () => ({ send: () => 1 }) })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^`effects` of expectDurable returned what cannot be copied/),
    })
  })

  it('fails where a call is made again and does its work twice', async () => {
    const error = await failure((_task: unknown, run: Run) => run.call('pay', () => void bank.set(`${bank.size}`, 3)))
    expect(error).toBeInstanceOf(AssertionError)
    expect(error.message).toMatch(
      /^A crash before the write "finish call" \(\d+ of \d+\) changes effects\. .*`identity`/,
    )
    expect([error.actual, error.expected]).toMatchObject([{ effects: [3, 3] }, { effects: [3] }])
  })

  it('fails where an executor acts outside of a call', async () => {
    const error = await failure(async (_task: unknown, run: Run) => {
      bank.set(`${bank.size}`, 3)
      await run.sleep('1d')
    })
    expect(error.message).toMatch(/changes effects/)
  })

  it('fails where an executor keeps what it needs in memory', async () => {
    const error = await failure(async (_task: unknown, run: Run) => {
      let tries = 0
      const seen = () => ++tries
      await run.call('first', seen)
      return run.call('second', seen)
    })
    expect(error.message).toMatch(/changes result/)
  })

  it('fails where an executor takes chance from elsewhere than its run, and says where from', async () => {
    let drawn = 0
    const error = await failure(
      async (_task: unknown, run: Run) => {
        await run.call('draw', { card: drawn++ }, () => 'drawn')
        await run.call('play', () => 'played')
      },
      {
        ...options,
        setup() {
          drawn = 0
        },
      },
    )
    expect(error.message).toMatch(/changes calls\. It calls something else than before: .*run\.random\(\)/)
  })

  it('fails where nothing says what follows an interrupted call, and says what does', async () => {
    const error = await failure((_task: unknown, run: Run) => run.call('pay', () => 'paid'), {})
    expect(error.message).toMatch(
      /changes status\. Nothing says what follows when a crash interrupts a call: .*onInterrupt/,
    )
  })

  it('says that runs differ without a crash', async () => {
    let runs = 0
    const error = await failure(() => ++runs)
    expect(error.message).toMatch(/^Two runs without a crash differ at result/)
  })

  it('passes an executor that asks what became of an interrupted call', async () => {
    const pay = async (_task: unknown, run: Run) => {
      const paid = await run
        .call('pay', () => void bank.set('order-7', 3))
        .then(
          () => true,
          () => run.call('was it paid?', () => bank.has('order-7')),
        )
      if (!paid) await run.call('pay again', () => void bank.set('order-7', 3))
      return 'paid'
    }
    await expectDurable(pay, { setup: options.setup, effects: () => [...bank] })
  })
})
