// `why` of a task that is a machine: its state, and everything that would move it.
import { expect, it } from 'vitest'
import { createMachine, fromCallback, setup } from 'xstate'
import { SimulatedClock } from '../../src/testing/index.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { openEngine, reached } from '../engine/world.ts'

const order = createMachine({
  id: 'order',
  initial: 'open',
  states: {
    open: { on: { PAY: 'paid', CANCEL: 'canceled' }, after: { 60000: 'canceled' } },
    paid: { type: 'parallel', states: { pack: { initial: 'idle', states: { idle: {} } }, bill: {} } },
    canceled: { type: 'final' },
  },
})

it('engine.why names the state of a machine that rests, its events and its next timer', async () => {
  const engine = await openEngine({ clock: new SimulatedClock(0), executors: { order: machine(order) } })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'waiting')
  expect(await engine.why(task)).toEqual({
    taskId: task.id,
    status: 'waiting',
    reason: 'signal',
    tasks: [],
    at: 60_000,
    message:
      'It is in "open" and waits for the event PAY or CANCEL, or until 1970-01-01T00:01:00.000Z (xstate.after.60000.order.open). `sendEvent` sends it.',
  })
})

it('engine.why says of a machine that nothing moves what would end it', async () => {
  const engine = await openEngine({ executors: { order: machine(order) } })
  const task = await engine.create({ executor: 'order' })
  await engine.sendEvent(task, { type: 'PAY' })
  await engine.idle()
  expect(await engine.why(task)).toMatchObject({
    reason: 'signal',
    at: null,
    message: 'It is in "paid.pack.idle, bill", and no event moves it: `cancel` ends it.',
  })
})

it('engine.why names the machines that a machine waits for, beside its state', async () => {
  const parent = setup({ actors: { order } }).createMachine({
    id: 'shop',
    initial: 'selling',
    states: {
      selling: { invoke: { src: 'order', id: 'first' }, on: { '*': 'closed' } },
      closed: { type: 'final' },
    },
  })
  const engine = await openEngine({ clock: new SimulatedClock(0), executors: { shop: machine(parent) } })
  const task = await engine.create({ executor: 'shop' })
  await engine.idle()
  const [child] = await engine.children(task)
  expect(await engine.why(task)).toMatchObject({
    reason: 'children',
    tasks: [child!.id],
    message: `It is in "selling" and waits for any event, or for #${child!.seq} first. \`sendEvent\` sends it.`,
  })
})

it('engine.why asks for the answer while the state of a machine asks a question', async () => {
  const asking = createMachine({
    id: 'review',
    initial: 'asked',
    states: {
      asked: { meta: { ask: { question: 'Ship it?', event: 'ANSWERED' } }, on: { ANSWERED: 'done' } },
      done: { type: 'final' },
    },
  })
  const engine = await openEngine({ executors: { review: machine(asking) } })
  const task = await engine.create({ executor: 'review' })
  await reached(engine, task, 'input_required')
  expect(await engine.why(task)).toMatchObject({
    reason: 'answer',
    message: 'It waits for a person to answer: "Ship it?"',
  })
})

it('engine.why says what a machine without states waits for, at rest and with an actor in memory', async () => {
  const listen = fromCallback(() => {})
  const on = { ADD: { actions: () => {} } }
  const engine = await openEngine({
    executors: {
      resting: machine(createMachine({ on })),
      listening: machine(setup({ actors: { listen } }).createMachine({ invoke: { src: 'listen' }, on })),
    },
  })
  const resting = await engine.create({ executor: 'resting' })
  await reached(engine, resting, 'waiting')
  expect((await engine.why(resting)).message).toBe(
    'Its machine has no states and waits for the event ADD. `sendEvent` sends it.',
  )
  const listening = await engine.create({ executor: 'listening' })
  for await (const { type } of engine.events({ taskId: listening.id })) if (type === 'run.parked') break
  expect((await engine.why(listening)).message).toContain('waits in memory for the next event of its machine')
})
