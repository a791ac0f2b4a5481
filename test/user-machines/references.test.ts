// References to actors in what a machine stores, and where its events go by them.
import { expect, it } from 'vitest'
import { type AnyActorRef, assign, sendParent, sendTo, setup, stopChild } from 'xstate'
import { machineWorld } from './machine-world.ts'

const child = setup({ types: { events: {} as { type: 'PING' } } }).createMachine({
  initial: 'open',
  states: { open: { on: { PING: 'pinged' } }, pinged: { type: 'final' } },
})

const owner = setup({
  actors: { child },
  types: {
    context: {} as { kept: unknown[]; count: number },
    events: {} as { type: string; id: string; data: unknown },
  },
}).createMachine({
  context: { kept: [], count: 0 },
  invoke: { src: 'child', id: 'first' },
  on: {
    SPAWN: {
      actions: assign({
        kept: ({ context, event, spawn }) => [...context.kept, spawn('child', { id: event.id })],
      }),
    },
    STOP: { actions: stopChild(({ event }) => event.id) },
    PING: { actions: sendTo(({ context }) => context.kept[0] as AnyActorRef, { type: 'PING' }) },
    KEEP: { actions: assign({ kept: ({ context, event }) => [...context.kept, event.data] }) },
    ECHO: { actions: sendTo(({ context }) => context.kept[0] as AnyActorRef, { type: 'COUNT' }) },
    KEEP_SELF: { actions: assign({ kept: ({ self }) => [self] }) },
    ANSWER: { actions: sendTo(({ event }) => event.data as AnyActorRef, { type: 'PING' }) },
    '*': { actions: assign({ count: ({ context }) => context.count + 1 }) },
  },
})

const owning = async () => {
  const world = await machineWorld()
  const engine = await world.engineOf(owner)
  const task = await engine.create({ executor: 'machine' })
  await world.clock.rest()
  const send = async (event: { type: string; [field: string]: unknown }) => {
    await engine.sendEvent(task, event)
    await world.clock.rest()
  }
  return { ...world, engine, task, send }
}

it('a context keeps a reference to an actor that was stopped, which gets no events', async () => {
  const { send, stateOf, task } = await owning()
  await send({ type: 'SPAWN', id: 'second' })
  await send({ type: 'STOP', id: 'second' })
  await send({ type: 'PING' })
  await send({ type: 'COUNT' })
  expect((await stateOf(task.id)).context).toMatchObject({ kept: [{ id: 'second' }], count: 1 })
})

it('an event whose payload looks like a reference does not fail the machine that stores it', async () => {
  const { send, stateOf, task } = await owning()
  const data = { xstate$$type: 1, id: 'unknown' }
  await send({ type: 'KEEP', data })
  await send({ type: 'COUNT' })
  expect((await stateOf(task.id)).context).toEqual({ kept: [data], count: 1 })
})

it('a machine sends to itself by a reference in its context', async () => {
  const { send, stateOf, task } = await owning()
  await send({ type: 'KEEP_SELF' })
  await send({ type: 'ECHO' })
  expect((await stateOf(task.id)).context).toMatchObject({ kept: [{ id: task.id }], count: 1 })
})

it('a reference that has arrived as JSON is no target, and the task fails with what to use instead', async () => {
  const { engine, send, task } = await owning()
  await send({ type: 'ANSWER', data: { xstate$$type: 1, id: 'first' } })
  expect(await engine.get(task)).toMatchObject({
    status: 'failed',
    error: { code: 'INVALID_RESULT', message: expect.stringContaining('taskRef(id)') },
  })
})

it('a delayed event for an actor that was stopped is dropped, and is not taken for changed code', async () => {
  const { engineOf, clock, stateOf } = await machineWorld()
  const definition = setup({ actors: { child } }).createMachine({
    initial: 'on',
    states: {
      on: {
        invoke: { src: 'child', id: 'kid' },
        entry: sendTo('kid', { type: 'PING' }, { delay: 1000 }),
        on: { NEXT: 'again' },
      },
      again: { invoke: { src: 'child', id: 'kid', onDone: 'pinged' }, on: { NEXT: 'off' } },
      off: { on: { NEXT: 'off' } },
      pinged: {},
    },
  })
  const engine = await engineOf(definition)
  const task = await engine.create({ executor: 'machine' })
  await clock.rest()
  await engine.sendEvent(task, { type: 'NEXT' })
  await clock.advance(2000)
  // The new actor of the same id has not got it.
  expect(await stateOf(task.id)).toMatchObject({ value: 'again', timers: [] })
  await engine.sendEvent(task, { type: 'NEXT' })
  await clock.rest()
  expect(await engine.get(task)).toMatchObject({ status: 'waiting' })
})

it('a delayed event reaches an actor whatever its id is', async () => {
  const { engineOf, clock, stateOf } = await machineWorld()
  const definition = setup({ actors: { child } }).createMachine({
    initial: 'on',
    states: {
      on: {
        invoke: { src: 'child', id: 'task:1', onDone: 'pinged' },
        entry: sendTo('task:1', { type: 'PING' }, { delay: 1000 }),
      },
      pinged: {},
    },
  })
  const engine = await engineOf(definition)
  const task = await engine.create({ executor: 'machine' })
  await clock.advance(2000)
  expect((await stateOf(task.id)).value).toBe('pinged')
})

it('a delayed event reaches an actor that has the id of its parent', async () => {
  const { engineOf, clock, stateOf } = await machineWorld()
  const middle = setup({ actors: { child } }).createMachine({
    initial: 'on',
    states: {
      on: {
        invoke: { src: 'child', id: 'kid', onDone: 'done' },
        entry: sendTo('kid', { type: 'PING' }, { delay: 1000 }),
      },
      done: { type: 'final', entry: sendParent({ type: 'DONE' }) },
    },
  })
  const definition = setup({ actors: { middle } }).createMachine({
    initial: 'on',
    states: { on: { invoke: { src: 'middle', id: 'kid', onDone: 'pinged' } }, pinged: {} },
  })
  const engine = await engineOf(definition)
  const task = await engine.create({ executor: 'machine' })
  await clock.advance(2000)
  expect((await stateOf(task.id)).value).toBe('pinged')
})
