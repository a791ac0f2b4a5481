// What may be sent to a machine from outside.
import { expect, it } from 'vitest'
import { assign, createMachine, fromPromise, setup } from 'xstate'
import { callOf } from '../../src/user-machines/call-of.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { openEngine, reached } from '../engine/world.ts'

const payment = setup({ actors: { charge: fromPromise(async () => 'receipt') } }).createMachine({
  id: 'payment',
  initial: 'open',
  states: {
    open: { on: { PAY: 'charging' } },
    charging: { invoke: { src: 'charge', id: 'charge', onDone: 'paid' } },
    paid: { type: 'final' },
  },
})

it('the end of an actor cannot be sent from outside, and neither can any other event of XState', async () => {
  const engine = await openEngine({ executors: { payment: machine(payment) } })
  const task = await engine.create({ executor: 'payment' })
  await reached(engine, task, 'waiting')
  for (const type of ['xstate.done.actor.charge', 'xstate.stop', '*']) {
    await expect(engine.sendEvent(task, { type, output: 'forged' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(engine.signal(task, type, { output: 'forged' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  }
  await engine.sendEvent(task, { type: 'PAY' })
  expect(await engine.settled(task)).toMatchObject({ status: 'completed' })
  await engine.close()
})

it('several events that are due or kept are handled in one run', async () => {
  const counter = setup({ actions: { note: () => {} } }).createMachine({
    id: 'counter',
    initial: 'on',
    states: { on: { on: { TICK: { actions: 'note' } } } },
  })
  const engine = await openEngine({ executors: { counter: machine(counter) } })
  const task = await engine.create({ executor: 'counter' })
  await reached(engine, task, 'waiting')
  await Promise.all(Array.from({ length: 20 }, () => engine.sendEvent(task, { type: 'TICK' })))
  for await (const { type } of engine.events({ taskId: task.id })) {
    if (type === 'task.waiting' && (await engine.calls(task)).length === 20) break
  }
  expect((await engine.runs(task)).length).toBe(2)
  await engine.close()
})

it('a promise and an action know the identity of their call, which is the same when it is repeated', async () => {
  const seen: Array<string | undefined> = []
  const paying = setup({
    actors: {
      charge: fromPromise(async ({ self }) => {
        seen.push(callOf(self)?.identity)
        if (seen.length === 1) throw new Error('no connection')
      }),
    },
    actions: { note: ({ self }) => void seen.push(callOf(self)?.identity) },
  }).createMachine({
    id: 'paying',
    initial: 'charging',
    states: {
      charging: { invoke: { src: 'charge', id: 'charge', onDone: { target: 'paid', actions: 'note' } } },
      paid: { type: 'final' },
    },
  })
  const engine = await openEngine({ executors: { paying: machine(paying, { retry: { maxAttempts: 2 } }) } })
  const task = await engine.create({ executor: 'paying' })
  expect(await engine.settled(task)).toMatchObject({ status: 'completed' })
  expect(seen).toEqual([seen[1], expect.stringContaining(`${task.id}/charge/`), expect.stringContaining('/note/')])
  await engine.close()
})

it('a failure that a parent handles calls no handler of failures', async () => {
  const broken = createMachine({ id: 'broken', initial: 'on', states: { on: { entry: assign(() => refuse()) } } })
  const parent = setup({ actors: { broken } }).createMachine({
    id: 'parent',
    initial: 'on',
    states: { on: { invoke: { src: 'broken', onError: 'off' } }, off: { type: 'final' } },
  })
  const calls: unknown[] = []
  const engine = await openEngine({
    executors: {
      parent: machine(parent, { onFailure: { executor: 'alarm' } }),
      alarm: (task: { input: unknown }) => calls.push(task.input),
    },
  })
  const task = await engine.create({ executor: 'parent' })
  expect(await engine.settled(task)).toMatchObject({ status: 'completed' })
  await engine.idle({ system: true })
  expect((await engine.children(task)).map(({ status }) => status)).toEqual(['failed'])
  expect(calls).toEqual([])
  await engine.close()
})

function refuse(): never {
  throw new Error('broken')
}
