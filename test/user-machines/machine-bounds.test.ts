// What a machine may be sent and may store, and how much of it.
import { describe, expect, it, onTestFinished } from 'vitest'
import { assign, fromCallback, fromPromise, log, raise, sendTo, setup } from 'xstate'
import { createEngine } from '../../src/engine/create-engine.ts'
import { mortalLedger } from '../../src/testing/mortal-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { taskRef } from '../../src/user-machines/task-ref.ts'
import { machineWorld } from './machine-world.ts'

const counter = setup({
  types: { context: {} as { count: number }, events: {} as { type: 'ADD' } | { type: 'END' } },
}).createMachine({
  id: 'counter',
  context: { count: 0 },
  initial: 'counting',
  states: {
    counting: { on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) }, END: 'done' } },
    done: { type: 'final' },
  },
})

const counting = async () => {
  const world = await machineWorld()
  const engine = await world.engineOf(counter)
  const task = await engine.create({ executor: 'machine' })
  await world.clock.rest()
  return { ...world, engine, task }
}

describe('an event that is sent to a machine', () => {
  it('is taken once, however often it is sent with one id', async () => {
    const { engine, task, stateOf } = await counting()
    await engine.sendEvent(task, { type: 'ADD' }, { id: 'one' })
    expect((await stateOf(task.id)).context).toEqual({ count: 1 })
    await engine.sendEvent(task, { type: 'ADD' }, { id: 'one' })
    expect((await stateOf(task.id)).context).toEqual({ count: 1 })
  })

  it('is refused when its task has settled', async () => {
    const { engine, task, clock } = await counting()
    await engine.sendEvent(task, { type: 'END' })
    await clock.rest()
    await expect(engine.sendEvent(task, { type: 'ADD' })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' })
  })

  it('may come from an engine that does no work and does not have the machine', async () => {
    const { ledger, clock, task, stateOf } = await counting()
    const sender = await createEngine({ ledger, clock, executors: {}, work: false })
    onTestFinished(() => sender.close())
    await sender.sendEvent(task.id, { type: 'ADD' })
    expect((await stateOf(task.id)).context).toEqual({ count: 1 })
  })

  it('is refused without a type, and when it is too large', async () => {
    const { engine, task } = await counting()
    await expect(engine.sendEvent(task, {} as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(engine.sendEvent(task, { type: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const large = 'x'.repeat(300_000)
    await expect(engine.sendEvent(task, { type: 'ADD', large })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('is refused when 1,000 are kept', async () => {
    const { ledger, clock } = await machineWorld()
    const sender = await createEngine({ ledger, clock, executors: { machine: machine(counter) }, work: false })
    onTestFinished(() => sender.close())
    const task = await sender.create({ executor: 'machine' })
    await Promise.all(Array.from({ length: 1000 }, () => sender.sendEvent(task, { type: 'ADD' })))
    await expect(sender.sendEvent(task, { type: 'ADD' })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('is taken in order, 500 at once in few runs', async () => {
    const { engine, task, clock, stateOf } = await counting()
    await Promise.all(Array.from({ length: 500 }, () => engine.sendEvent(task, { type: 'ADD' })))
    expect((await stateOf(task.id)).context).toEqual({ count: 500 })
    await clock.rest()
    expect((await engine.get(task))?.run).toBeLessThan(10)
  })
})

describe('a machine', () => {
  const circle: { inner?: object } = {}
  circle.inner = circle
  it.each([
    ['a Map', new Map([[1, 2]]), 'context.made.at'],
    ['a Date', new Date(0), 'context.made.at'],
    ['a circle', circle, 'circular'],
  ])('is refused a context that does not survive a restart, with its path: %s', async (_name, at, complaint) => {
    const { clock, engineOf } = await machineWorld()
    const dated = setup({ types: { context: {} as { made: object } } }).createMachine({
      context: { made: {} },
      entry: assign({ made: () => ({ at }) }),
    })
    const engine = await engineOf(dated)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RESULT', message: expect.stringContaining(complaint) },
    })
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])(
    'is refused a delay of %d, and the engine goes on',
    async (ms) => {
      const { clock, engineOf } = await machineWorld()
      const delayed = setup({ delays: { ms: () => ms } }).createMachine({
        initial: 'on',
        states: { on: { after: { ms: 'off' } }, off: {} },
      })
      const engine = await engineOf(delayed)
      const task = await engine.create({ executor: 'machine' })
      await clock.rest()
      expect(await engine.get(task)).toMatchObject({
        status: 'failed',
        error: { code: 'INVALID_RESULT', message: expect.stringContaining(`${ms} milliseconds`) },
      })
      expect(await engine.create({ executor: 'machine' })).toMatchObject({ status: 'submitted' })
    },
  )

  it('logs what JSON cannot carry, and goes on', async () => {
    const { clock, engineOf } = await machineWorld()
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const values = [5n, circular, { count: 5n }, undefined]
    const engine = await engineOf(setup({}).createMachine({ entry: values.map((value) => log(() => value)) }))
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    const texts: unknown[] = []
    for await (const { type, data } of engine.events({ taskId: task.id })) {
      if (type === 'output.written') texts.push(data['text'])
      if (texts.length === values.length) break
    }
    expect(texts).toEqual(['5\n', expect.stringContaining('circular'), '{"count":"5"}\n', 'undefined\n'])
  })

  it('fails with what its callback actor has sent and JSON cannot carry', async () => {
    const { clock, engineOf } = await machineWorld()
    const listen = fromCallback(({ sendBack }) => sendBack({ type: 'GOT', at: new Map() } as never))
    const engine = await engineOf(setup({ actors: { listen } }).createMachine({ invoke: { src: 'listen' } }))
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    expect(await engine.get(task)).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_RESULT', message: expect.stringContaining('event.at') },
    })
  })

  it('may send 1,000 events to itself', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const busy = setup({ types: { context: {} as { left: number } } }).createMachine({
      context: { left: 1000 },
      entry: raise({ type: 'NEXT' }),
      on: {
        NEXT: {
          guard: ({ context }) => context.left > 0,
          actions: [assign({ left: ({ context }) => context.left - 1 }), sendTo(({ self }) => self, { type: 'NEXT' })],
        },
      },
    })
    const engine = await engineOf(busy)
    const task = await engine.create({ executor: 'machine' })
    await clock.rest()
    expect((await stateOf(task.id)).context).toEqual({ left: 0 })
    expect((await engine.get(task))?.run).toBe(1)
  })

  it('sends events to other tasks by their ids, and nothing to one that has settled', async () => {
    const { clock, engineOf, stateOf } = await machineWorld()
    const pair = setup({
      types: { context: {} as { count: number }, events: {} as { type: string; to: string; say: string } },
    }).createMachine({
      context: { count: 0 },
      on: {
        PASS: {
          actions: sendTo(
            ({ event }) => taskRef(event.to),
            ({ event }) => ({ type: event.say }),
          ),
        },
        ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) },
      },
    })
    const engine = await engineOf(pair)
    const [one, other] = [await engine.create({ executor: 'machine' }), await engine.create({ executor: 'machine' })]
    await clock.rest()
    await engine.sendEvent(one, { type: 'PASS', to: other.id, say: 'ADD' })
    expect((await stateOf(other.id)).context).toEqual({ count: 1 })
    await engine.cancel(other)
    await engine.sendEvent(one, { type: 'PASS', to: other.id, say: 'ADD' })
    await engine.sendEvent(one, { type: 'ADD' })
    expect((await stateOf(one.id)).context).toEqual({ count: 1 })
    await engine.sendEvent(one, { type: 'PASS', to: 'task-unknown', say: 'ADD' })
    await clock.rest()
    expect(await engine.get(one)).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } })
  })

  it('with a live callback does not keep an engine from closing', async () => {
    const { clock, engineOf } = await machineWorld()
    let isStopped = false
    const listen = fromCallback(() => () => {
      isStopped = true
    })
    const engine = await engineOf(setup({ actors: { listen } }).createMachine({ invoke: { src: 'listen' } }))
    await engine.create({ executor: 'machine' })
    await clock.rest()
    await engine.close()
    expect(isStopped).toBe(true)
  })
})

describe('a promise that a crash interrupted', () => {
  const payment = () => {
    let made = 0
    const charge = fromPromise(() => Promise.resolve(++made))
    const definition = setup({ actors: { charge }, types: { context: {} as { code: unknown } } }).createMachine({
      context: { code: null },
      initial: 'charging',
      states: {
        charging: {
          invoke: {
            src: 'charge',
            onDone: 'paid',
            onError: {
              target: 'unknown',
              actions: assign({ code: ({ event }) => (event.error as { code: unknown }).code }),
            },
          },
        },
        paid: {},
        unknown: {},
      },
    })
    return { definition, made: () => made }
  }

  const crashed = async (onInterrupt: 'fail' | 'rerun' | 'ask') => {
    const world = await machineWorld()
    const { definition, made } = payment()
    const { ledger, death } = mortalLedger(world.ledger, ({ name, when }) => name === 'begin call' && when === 'after')
    const executors = { machine: machine(definition, { onInterrupt }) }
    const first = await createEngine({ ledger, executors, clock: new SimulatedClock() })
    const task = await first.create({ executor: 'machine' })
    await death
    const engine = await world.engineOf(definition, { onInterrupt })
    await world.clock.rest()
    return { ...world, engine, task, made }
  }

  it('ends with an error under `fail`', async () => {
    const { task, stateOf, made } = await crashed('fail')
    expect(await stateOf(task.id)).toMatchObject({ value: 'unknown', context: { code: 'CALL_INTERRUPTED' } })
    expect(made()).toBe(0)
  })

  it('is made again under `rerun`', async () => {
    const { task, stateOf, made } = await crashed('rerun')
    expect((await stateOf(task.id)).value).toBe('paid')
    expect(made()).toBe(1)
  })

  it('is put to a person under `ask`', async () => {
    const { engine, task, made } = await crashed('ask')
    expect((await engine.get(task))?.status).toBe('input_required')
    expect(made()).toBe(0)
  })
})
