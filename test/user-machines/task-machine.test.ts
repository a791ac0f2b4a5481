// The machine of a task as it is read: `engine.machine`, `task:machine`, and the chart that an engine without the machine gets.
import { expect, it } from 'vitest'
import { and, createMachine, fromPromise, not, setup } from 'xstate'
import { SimulatedClock } from '../../src/testing/index.ts'
import { chartOfDefinition } from '../../src/user-machines/definition-chart.ts'
import { machine } from '../../src/user-machines/machine.ts'
import { ledgerFile, openEngine, reached } from '../engine/world.ts'

const order = createMachine({
  id: 'order',
  context: { paid: 0 },
  initial: 'open',
  states: {
    open: { on: { PAY: 'paid' }, after: { 60000: 'canceled' } },
    paid: { on: { SHIP: 'shipped' } },
    shipped: { type: 'final' },
    canceled: { type: 'final' },
  },
})

it('engine.machine returns the situation of a machine and its moves, oldest first', async () => {
  const engine = await openEngine({ clock: new SimulatedClock(0), executors: { order: machine(order) } })
  const task = await engine.create({ executor: 'order' })
  await reached(engine, task, 'waiting')
  expect(await engine.machine(task)).toEqual({
    id: 'order',
    value: 'open',
    context: { paid: 0 },
    accepts: ['PAY'],
    next: { event: 'xstate.after.60000.order.open', dueAt: 60_000 },
    step: 1,
    chart: chartOfDefinition(order),
    path: [{ event: 'xstate.init', value: 'open', at: 0, seq: expect.any(Number) }],
  })
  await engine.sendEvent(task, { type: 'PAY' })
  await engine.idle()
  const { machine: read } = await engine.bus.call('task:machine', { taskId: task.id })
  expect(read).toEqual(await engine.machine(task))
  expect(read).toMatchObject({ value: 'paid', next: null, accepts: ['SHIP'] })
  expect(read?.path.map(({ event, value }) => [event, value])).toEqual([
    ['xstate.init', 'open'],
    ['PAY', 'paid'],
  ])
})

it('engine.machine keeps the last situation of a machine that has ended', async () => {
  const engine = await openEngine({ executors: { order: machine(order) } })
  const task = await engine.create({ executor: 'order' })
  for (const type of ['PAY', 'SHIP']) await engine.sendEvent(task, { type })
  await engine.settled(task)
  expect(await engine.machine(task)).toMatchObject({ value: 'shipped', accepts: [], next: null })
})

it('engine.machine returns null for a task without a machine, and refuses an unknown id', async () => {
  const engine = await openEngine({ executors: { plain: () => null } })
  const task = await engine.create({ executor: 'plain' })
  expect(await engine.machine(task)).toBeNull()
  await expect(engine.machine('task-unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('an engine without the machine reads its chart from the ledger, and that of an actor that is a machine', async () => {
  const ledger = ledgerFile()
  const parent = setup({ actors: { order } }).createMachine({
    id: 'shop',
    initial: 'selling',
    states: { selling: { invoke: { src: 'order', id: 'first' } } },
  })
  const working = await openEngine({ ledger, executors: { shop: machine(parent) } })
  const task = await working.create({ executor: 'shop' })
  await reached(working, task, 'waiting')
  const [child] = await working.children(task)
  await reached(working, child!, 'waiting')
  const reading = await openEngine({ ledger, work: false })
  expect((await reading.machine(task))?.chart).toEqual(chartOfDefinition(parent))
  expect(await reading.machine(child!)).toMatchObject({ id: 'order', value: 'open', chart: chartOfDefinition(order) })
})

it('the chart of a machine follows its definition from one engine to the next', async () => {
  const ledger = ledgerFile()
  const first = await openEngine({ ledger, executors: { order: machine(order) } })
  const task = await first.create({ executor: 'order' })
  await reached(first, task, 'waiting')
  await first.close()
  const other = createMachine({ id: 'order', initial: 'open', context: {}, states: { open: {}, late: {} } })
  const second = await openEngine({ ledger, executors: { order: machine(other) } })
  expect((await second.machine(task))?.chart?.root.states.map(({ key }) => key)).toEqual(['open', 'late'])
})

it('a chart has states of all types, with the names of guards, delays and actors', () => {
  const inner = createMachine({ id: 'inner', initial: 'a', states: { a: {} } })
  const whole = setup({
    guards: { rich: () => true, old: ({ event }, { age }: { age: number }) => event.type === String(age) },
    delays: { long: 1_000 },
    actors: { inner, fetch: fromPromise(async () => 1) },
  }).createMachine({
    id: 'm',
    initial: 'a',
    on: { STOP: '.end' },
    states: {
      a: {
        initial: 'first',
        invoke: [{ src: 'fetch', id: 'loading', onDone: 'b' }, { src: createMachine({ id: 'inline' }) }],
        on: {
          GO: [
            { guard: 'rich', target: 'b' },
            { guard: and(['rich', not({ type: 'old', params: { age: 9 } })]), target: 'end' },
            {},
          ],
        },
        after: { long: 'b', 500: { target: 'end', guard: () => false } },
        states: { first: {}, back: { type: 'history', history: 'deep', target: 'first' } },
      },
      b: { type: 'parallel', states: { left: {}, right: {} }, always: { guard: 'rich', target: 'end' } },
      end: { type: 'final' },
    },
  })
  const { root, actors } = chartOfDefinition(whole)
  const [a, b, end] = root.states
  expect(root).toMatchObject({ id: 'm', type: 'compound', initial: 'a' })
  expect(root.transitions).toEqual([{ event: 'STOP', targets: ['m.end'] }])
  expect(a?.transitions).toEqual([
    { event: 'GO', targets: ['m.b'], guard: 'rich' },
    { event: 'GO', targets: ['m.end'], guard: 'and(rich, not(old))' },
    { event: 'GO', targets: [] },
    { event: 'xstate.done.actor.loading', targets: ['m.b'] },
    { event: 'xstate.after.500.m.a', targets: ['m.end'], guard: 'guard', delay: 500 },
    { event: 'xstate.after.long.m.a', targets: ['m.b'], delay: 'long' },
  ])
  expect(a?.invokes).toEqual([
    { id: 'loading', src: 'fetch' },
    { id: '1.m.a', src: 'xstate.invoke.1.m.a' },
  ])
  expect(a?.states[1]).toMatchObject({ id: 'm.a.back', type: 'history', history: 'deep' })
  expect(b).toMatchObject({ type: 'parallel', transitions: [{ event: '', targets: ['m.end'], guard: 'rich' }] })
  expect(end).toMatchObject({ type: 'final', transitions: [], states: [] })
  expect(Object.entries(actors).map(([name, { id }]) => [name, id])).toEqual([
    ['inner', 'inner'],
    ['xstate.invoke.1.m.a', 'inline'],
  ])
})
