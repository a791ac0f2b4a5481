// Types flow from a machine to create, result and sendEvent. Checked by plain tsc: this file is never run.
import { createEngine, type Outcome, type Task } from 'errand'
import { type MachineAsk, machine, type StoredMachine, taskRef } from 'errand/machine'
import { expectTypeOf } from 'vitest'
import { type EventFrom, fromPromise, sendTo, setup } from 'xstate'

const order = setup({
  types: {
    input: {} as { total: number },
    context: {} as { total: number; shipment: string },
    events: {} as { type: 'PAY'; card: string } | { type: 'CANCEL' },
    output: {} as { receipt: string | null },
  },
  actors: { charge: fromPromise<string, { card: string }>(() => Promise.resolve('receipt')) },
}).createMachine({
  context: ({ input }) => ({ ...input, shipment: 'task-a' }),
  initial: 'cart',
  states: {
    cart: {
      meta: { ask: { question: 'Pay?', event: 'PAY', for: 'anyone' } satisfies MachineAsk },
      on: { PAY: 'paid', CANCEL: { actions: sendTo(({ context }) => taskRef(context.shipment), { type: 'STOP' }) } },
    },
    paid: { type: 'final' },
  },
  output: { receipt: null },
})
const gate = setup({ types: { events: {} as { type: 'OPEN' } } }).createMachine({ on: { OPEN: {} } })

const engine = await createEngine({
  executors: {
    order: machine(order, {
      version: '2',
      calls: { charge: { retry: { maxAttempts: 3 }, timeoutMs: '5s', onInterrupt: 'ask' } },
      migrate: (stored, fromVersion) => {
        expectTypeOf(stored).toEqualTypeOf<StoredMachine>()
        expectTypeOf(fromVersion).toEqualTypeOf<string | null>()
        return stored
      },
    }),
    gate: machine(gate),
  },
})

const task = await engine.create({ executor: 'order', input: { total: 80 } })
expectTypeOf(task).toEqualTypeOf<Task<{ receipt: string | null }>>()
expectTypeOf(await engine.result(task)).toEqualTypeOf<{ receipt: string | null }>()
expectTypeOf(await engine.settled(task)).toEqualTypeOf<Outcome<{ receipt: string | null }>>()
await engine.create({ executor: 'gate' })

expectTypeOf(
  await engine.sendEvent<EventFrom<typeof order>>(task, { type: 'PAY', card: 'tok_1' }),
).toEqualTypeOf<Task>()
await engine.sendEvent(task, { type: 'ANY', payload: 1 }, { id: 'evt_1' })

// @ts-expect-error: `total` must be a number.
await engine.create({ executor: 'order', input: { total: '80' } })
// @ts-expect-error: the machine takes an input.
await engine.create({ executor: 'order' })
// @ts-expect-error: PAY has a card.
await engine.sendEvent<EventFrom<typeof order>>(task, { type: 'PAY' })
// @ts-expect-error: there is no such event.
await engine.sendEvent<EventFrom<typeof order>>(task, { type: 'SHIP' })
// @ts-expect-error: an event has a type.
await engine.sendEvent(task, { card: 'tok_1' })
// @ts-expect-error: calls of a machine have keys of their own.
machine(order, { calls: { charge: { key: 'mine' } } })
// @ts-expect-error: it takes a machine.
machine(fromPromise(() => Promise.resolve(1)))
