// Shapes of machines with children: invoked and spawned, what they send each other, and what is seen of them.

import { type ActorRefFrom, assign, sendParent, sendTo, setup, stopChild } from 'xstate'
import type { Shape } from '../machine-runner.ts'

const till = setup({
  types: {
    context: {} as { sum: number },
    input: {} as { float: number },
    events: {} as { type: 'SCAN'; price: number } | { type: 'CLOSE' },
    output: {} as { total: number },
  },
  actions: { beep: () => {} },
}).createMachine({
  id: 'till',
  context: ({ input }) => ({ sum: input.float }),
  initial: 'open',
  states: {
    open: {
      on: {
        SCAN: {
          actions: [
            assign({ sum: ({ context, event }) => context.sum + event.price }),
            'beep',
            sendParent(({ context }) => ({ type: 'SUM', sum: context.sum })),
          ],
        },
        CLOSE: 'closed',
      },
    },
    closed: { type: 'final' },
  },
  output: ({ context }) => ({ total: context.sum }),
})

/** An invoked machine gets events, sends others to its parent, and ends with an output. */
const shop = setup({
  types: {
    context: {} as { sums: number[]; total: number },
    events: {} as { type: 'SELL'; price: number } | { type: 'SUM'; sum: number } | { type: 'EVENING' },
    output: {} as { sums: number[]; total: number },
  },
  actors: { till },
  actions: { sweep: () => {} },
}).createMachine({
  id: 'shop',
  context: { sums: [], total: 0 },
  initial: 'selling',
  states: {
    selling: {
      invoke: {
        src: 'till',
        id: 'till',
        input: { float: 10 },
        onDone: { target: 'counted', actions: [assign({ total: ({ event }) => event.output.total }), 'sweep'] },
      },
      on: {
        SELL: { actions: sendTo('till', ({ event }) => ({ type: 'SCAN', price: event.price }) as const) },
        SUM: { actions: assign({ sums: ({ context, event }) => [...context.sums, event.sum] }) },
        EVENING: { actions: sendTo('till', { type: 'CLOSE' }) },
      },
    },
    counted: { type: 'final' },
  },
  output: ({ context }) => context,
})

const todo = setup({
  types: {
    context: {} as { text: string; edits: number },
    input: {} as { text: string },
    events: {} as { type: 'EDIT'; text: string } | { type: 'CHECK' },
    output: {} as { text: string },
  },
}).createMachine({
  id: 'todo',
  context: ({ input }) => ({ text: input.text, edits: 0 }),
  initial: 'open',
  states: {
    open: {
      on: {
        EDIT: {
          actions: [
            assign({ text: ({ event }) => event.text, edits: ({ context }) => context.edits + 1 }),
            sendParent(({ context }) => ({ type: 'EDITED', text: context.text })),
          ],
        },
        CHECK: 'checked',
      },
    },
    checked: { type: 'final' },
  },
  output: ({ context }) => ({ text: context.text }),
})

/** Actors are spawned into the context, where references to them stay, also after they have ended. An event for one that has ended is dropped. */
const todos = setup({
  types: {
    context: {} as { items: ActorRefFrom<typeof todo>[]; log: string[] },
    events: {} as
      | { type: 'ADD'; id: string; text: string }
      | { type: 'EDIT'; id: string; text: string }
      | { type: 'CHECK'; id: string }
      | { type: 'REMOVE'; id: string }
      | { type: 'EDITED'; text: string }
      | { type: 'xstate.done.actor.*'; output: { text: string } },
  },
  actors: { todo },
}).createMachine({
  id: 'todos',
  context: { items: [], log: [] },
  on: {
    ADD: {
      actions: assign({
        items: ({ context, event, spawn }) => [
          ...context.items,
          spawn('todo', { id: event.id, input: { text: event.text } }),
        ],
      }),
    },
    EDIT: {
      actions: sendTo(
        ({ event }) => event.id,
        ({ event }) => ({ type: 'EDIT', text: event.text }),
      ),
    },
    CHECK: {
      actions: sendTo(
        ({ context, event }) => context.items.find(({ id }) => id === event.id) as ActorRefFrom<typeof todo>,
        { type: 'CHECK' },
      ),
    },
    REMOVE: {
      actions: [
        stopChild(({ event }) => event.id),
        assign({ items: ({ context, event }) => context.items.filter(({ id }) => id !== event.id) }),
      ],
    },
    EDITED: { actions: assign({ log: ({ context, event }) => [...context.log, `edited ${event.text}`] }) },
    'xstate.done.actor.*': {
      actions: assign({ log: ({ context, event }) => [...context.log, `checked ${event.output.text}`] }),
    },
  },
})

const tank = setup({
  types: { context: {} as { litres: number }, events: {} as { type: 'FILL'; litres: number } },
}).createMachine({
  id: 'tank',
  context: { litres: 0 },
  initial: 'empty',
  on: { FILL: { actions: assign({ litres: ({ context, event }) => context.litres + event.litres }) } },
  states: {
    empty: { always: { guard: ({ context }) => context.litres > 0, target: 'filled' } },
    filled: {},
  },
})

/** A guard reads the state and the context of a child that was spawned when the context was made. */
const car = setup({
  types: {
    context: {} as { tank: ActorRefFrom<typeof tank> },
    events: {} as { type: 'FUEL'; litres: number } | { type: 'DRIVE' },
  },
  actors: { tank },
  guards: {
    hasFuel: ({ context }) => {
      const snapshot = context.tank.getSnapshot()
      return snapshot.value === 'filled' && snapshot.context.litres >= 10
    },
  },
}).createMachine({
  id: 'car',
  context: ({ spawn }) => ({ tank: spawn('tank', { id: 'tank' }) }),
  initial: 'parked',
  on: { FUEL: { actions: sendTo('tank', ({ event }) => ({ type: 'FILL', litres: event.litres }) as const) } },
  states: {
    parked: { on: { DRIVE: { guard: 'hasFuel', target: 'driving' } } },
    driving: {},
  },
})

/** Each state of a child is an event of `onSnapshot`. */
const dashboard = setup({
  types: {
    context: {} as { shown: number[] },
    events: {} as { type: 'FUEL'; litres: number },
  },
  actors: { tank },
}).createMachine({
  id: 'dashboard',
  context: { shown: [] },
  invoke: {
    src: 'tank',
    id: 'tank',
    onSnapshot: {
      actions: assign({ shown: ({ context, event }) => [...context.shown, event.snapshot.context.litres] }),
    },
  },
  on: { FUEL: { actions: sendTo('tank', ({ event }) => ({ type: 'FILL', litres: event.litres }) as const) } },
})

const printer = setup({
  types: { context: {} as { jobs: number }, events: {} as { type: 'PRINT' } },
}).createMachine({
  id: 'printer',
  context: { jobs: 0 },
  on: {
    PRINT: {
      actions: [
        assign({ jobs: ({ context }) => context.jobs + 1 }),
        sendParent(({ context }) => ({ type: 'PRINTED', jobs: context.jobs })),
      ],
    },
  },
})

/** An invoked machine is found by its name in the system, in a later event than the one that started it. */
const office = setup({
  types: {
    context: {} as { jobs: number },
    events: {} as { type: 'LETTER' } | { type: 'PRINTED'; jobs: number } | { type: 'MORNING' } | { type: 'NIGHT' },
  },
  actors: { printer },
}).createMachine({
  id: 'office',
  context: { jobs: 0 },
  initial: 'shut',
  states: {
    shut: { on: { MORNING: 'open' } },
    open: {
      invoke: { src: 'printer', id: 'p1', systemId: 'thePrinter' },
      on: {
        LETTER: { actions: sendTo(({ system }) => system.get('thePrinter'), { type: 'PRINT' }) },
        PRINTED: { actions: assign({ jobs: ({ event }) => event.jobs }) },
        NIGHT: 'shut',
      },
    },
  },
})

export const childShapes: Shape[] = [
  {
    name: 'a shop sells through the machine of its till',
    machine: shop,
    script: [{ type: 'SELL', price: 3 }, { type: 'SELL', price: 4 }, 'EVENING', { type: 'SELL', price: 5 }],
  },
  {
    name: 'a list spawns an actor for each of its items',
    machine: todos,
    script: [
      { type: 'ADD', id: 'a', text: 'milk' },
      { type: 'ADD', id: 'b', text: 'tea' },
      { type: 'EDIT', id: 'a', text: 'oat milk' },
      { type: 'CHECK', id: 'b' },
      { type: 'EDIT', id: 'b', text: 'too late' },
      { type: 'REMOVE', id: 'a' },
      { type: 'ADD', id: 'a', text: 'salt' },
      { type: 'EDIT', id: 'a', text: 'sea salt' },
    ],
  },
  {
    name: 'a guard reads the snapshot of a child',
    machine: car,
    script: ['DRIVE', { type: 'FUEL', litres: 6 }, 'DRIVE', { type: 'FUEL', litres: 6 }, 'DRIVE'],
  },
  {
    name: 'a dashboard shows each state of a child',
    machine: dashboard,
    script: [
      { type: 'FUEL', litres: 6 },
      { type: 'FUEL', litres: 1 },
    ],
  },
  {
    name: 'a printer is found by its name in the system',
    machine: office,
    script: ['MORNING', 'LETTER', 'LETTER', 'NIGHT', 'LETTER', 'MORNING', 'LETTER'],
  },
]
