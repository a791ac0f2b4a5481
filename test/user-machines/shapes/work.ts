// Shapes of work that is no machine: promises, callbacks, observables, reducers, by name and in place.

import {
  type ActorRefFrom,
  assign,
  createMachine,
  enqueueActions,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  fromTransition,
  type Subscribable,
  sendTo,
  setup,
  spawnChild,
} from 'xstate'
import type { Shape } from '../machine-runner.ts'

/** Gives an observer its values at once and ends. */
const listed = <Value>(values: readonly Value[]): Subscribable<Value> =>
  ({
    subscribe(observer: { next?(value: Value): void; complete?(): void }) {
      for (const value of values) observer.next?.(value)
      observer.complete?.()
      return { unsubscribe() {} }
    },
  }) as Subscribable<Value>

/** A promise gets its input from the context and gives its output to the transition. */
const payment = setup({
  types: {
    context: {} as { amount: number; receipt: string | null },
    input: {} as { amount: number },
    events: {} as { type: 'PAY' },
    output: {} as string | null,
  },
  actors: {
    charge: fromPromise(async ({ input }: { input: { amount: number } }) => ({ receipt: `R-${input.amount}` })),
  },
  actions: { thank: () => {} },
}).createMachine({
  id: 'payment',
  context: ({ input }) => ({ amount: input.amount, receipt: null }),
  initial: 'cart',
  states: {
    cart: { on: { PAY: 'charging' } },
    charging: {
      invoke: {
        src: 'charge',
        id: 'charge',
        input: ({ context }) => ({ amount: context.amount }),
        onDone: { target: 'paid', actions: [assign({ receipt: ({ event }) => event.output.receipt }), 'thank'] },
        onError: 'cart',
      },
    },
    paid: { type: 'final' },
  },
  output: ({ context }) => context.receipt,
})

/** The machine itself decides how often a promise is tried, and what is said at the end. */
const login = setup({
  types: {
    context: {} as { tries: number; said: string[] },
    events: {} as { type: 'TRY'; password: string },
  },
  actors: {
    check: fromPromise(async ({ input }: { input: { password: string } }) => {
      await Promise.resolve()
      if (input.password !== 'sesame') throw new Error(`not ${input.password}`)
    }),
  },
  guards: { isLast: ({ context }) => context.tries >= 2 },
}).createMachine({
  id: 'login',
  context: { tries: 0, said: [] },
  initial: 'out',
  states: {
    out: { on: { TRY: 'checking' } },
    checking: {
      entry: assign({ tries: ({ context }) => context.tries + 1 }),
      invoke: {
        src: 'check',
        id: 'check',
        input: ({ event }) => ({ password: event.type === 'TRY' ? event.password : '' }),
        onDone: 'in',
        onError: [
          { guard: 'isLast', target: 'locked' },
          {
            target: 'out',
            actions: assign({ said: ({ context, event }) => [...context.said, (event.error as Error).message] }),
          },
        ],
      },
    },
    in: { type: 'final' },
    locked: { after: { 30000: { target: 'out', actions: assign({ tries: 0 }) } } },
  },
})

/** A promise whose state is left is aborted, and its answer comes too late. */
const download = setup({
  types: { context: {} as { errors: number }, events: {} as { type: 'START' } | { type: 'CANCEL' } },
  actors: {
    fetchAll: fromPromise(
      ({ signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    ),
  },
}).createMachine({
  id: 'download',
  context: { errors: 0 },
  initial: 'idle',
  states: {
    idle: { on: { START: 'loading' } },
    loading: {
      invoke: {
        src: 'fetchAll',
        id: 'fetch',
        onDone: 'idle',
        onError: { target: 'failed', actions: assign({ errors: ({ context }) => context.errors + 1 }) },
      },
      after: { 5000: 'failed' },
      on: { CANCEL: 'idle' },
    },
    failed: { on: { START: 'loading' } },
  },
})

/** A callback receives events and sends others back, until its state is left. It sends none unasked, for a restart runs it again. */
const chat = setup({
  types: {
    context: {} as { lines: string[]; drafts: number },
    events: {} as
      | { type: 'CONNECT'; room: string }
      | { type: 'SAY'; text: string }
      | { type: 'LINE'; text: string }
      | { type: 'LEAVE' },
  },
  actors: {
    socket: fromCallback<{ type: 'OUT'; text: string }, { room: string }>(({ sendBack, receive, input }) => {
      receive((event) => sendBack({ type: 'LINE', text: `${input.room}: ${event.text}` }))
    }),
  },
}).createMachine({
  id: 'chat',
  context: { lines: [], drafts: 0 },
  initial: 'offline',
  states: {
    offline: {
      on: { CONNECT: 'online', SAY: { actions: assign({ drafts: ({ context }) => context.drafts + 1 }) } },
    },
    online: {
      invoke: {
        src: 'socket',
        id: 'socket',
        input: ({ event }) => ({ room: event.type === 'CONNECT' ? event.room : 'none' }),
      },
      on: {
        SAY: { actions: sendTo('socket', ({ event }) => ({ type: 'OUT', text: event.text })) },
        LINE: { actions: assign({ lines: ({ context, event }) => [...context.lines, event.text] }) },
        LEAVE: 'offline',
      },
    },
  },
})

/** Each value of an observable is a snapshot of its actor; its end is the end of the actor. */
const thermometer = setup({
  types: { context: {} as { readings: number[] }, events: {} as { type: 'MEASURE' } },
  actors: {
    readings: fromObservable(({ input }: { input: { from: number } }) => listed([input.from, input.from + 1])),
  },
}).createMachine({
  id: 'thermometer',
  context: { readings: [] },
  initial: 'idle',
  states: {
    idle: { on: { MEASURE: 'measuring' } },
    measuring: {
      invoke: {
        src: 'readings',
        id: 'readings',
        input: ({ context }) => ({ from: 20 + context.readings.length }),
        onSnapshot: {
          actions: assign({
            readings: ({ context, event }) =>
              event.snapshot.context === undefined ? context.readings : [...context.readings, event.snapshot.context],
          }),
        },
        onDone: 'idle',
      },
    },
  },
})

/** The values of an event observable are events of the machine. */
const feed = setup({
  types: {
    context: {} as { posts: string[] },
    events: {} as { type: 'POST'; text: string } | { type: 'REFRESH' },
  },
  actors: {
    posts: fromEventObservable(() =>
      listed([
        { type: 'POST', text: 'first' },
        { type: 'POST', text: 'second' },
      ]),
    ),
  },
}).createMachine({
  id: 'feed',
  context: { posts: [] },
  initial: 'quiet',
  on: { POST: { actions: assign({ posts: ({ context, event }) => [...context.posts, event.text] }) } },
  states: {
    quiet: { on: { REFRESH: 'reading' } },
    reading: { invoke: { src: 'posts', id: 'posts', onDone: 'quiet' } },
  },
})

const coins = fromTransition(
  (state: { paid: number }, event: { type: 'COIN' } | { type: 'USE' }) => ({
    paid: state.paid + (event.type === 'COIN' ? 1 : -2),
  }),
  { paid: 0 },
)

/** A reducer as a child, whose state a guard reads. */
const turnstile = setup({
  types: {
    context: {} as { coins: ActorRefFrom<typeof coins> },
    events: {} as { type: 'COIN' } | { type: 'PUSH' },
  },
  actors: { coins },
  guards: { isPaid: ({ context }) => context.coins.getSnapshot().context.paid >= 2 },
}).createMachine({
  id: 'turnstile',
  context: ({ spawn }) => ({ coins: spawn('coins', { id: 'coins' }) }),
  initial: 'closed',
  on: { COIN: { actions: sendTo(({ context }) => context.coins, { type: 'COIN' }) } },
  states: {
    closed: { on: { PUSH: { guard: 'isPaid', target: 'open' } } },
    open: { on: { PUSH: { target: 'closed', actions: sendTo(({ context }) => context.coins, { type: 'USE' }) } } },
  },
})

/** Entering a state anew stops and starts what it invokes, so the promise answers again. */
const scanner = setup({
  types: { context: {} as { scans: number }, events: {} as { type: 'AGAIN' } | { type: 'OFF' } },
  actors: { scan: fromPromise(async () => 1), lamp: fromCallback(() => {}) },
}).createMachine({
  id: 'scanner',
  context: { scans: 0 },
  initial: 'on',
  states: {
    on: {
      invoke: [
        {
          src: 'scan',
          id: 'scan',
          onDone: { actions: assign({ scans: ({ context, event }) => context.scans + event.output }) },
        },
        { src: 'lamp', id: 'lamp' },
      ],
      on: { AGAIN: { target: 'on', reenter: true }, OFF: 'off' },
    },
    off: { on: { AGAIN: 'on' } },
  },
})

/** A promise that is written where it is invoked, and has no name. */
const dice = createMachine({
  id: 'dice',
  types: { context: {} as { thrown: number | null }, events: {} as { type: 'THROW' } },
  context: { thrown: null },
  initial: 'idle',
  states: {
    idle: { on: { THROW: 'rolling' } },
    rolling: {
      invoke: {
        id: 'roll',
        src: fromPromise(async () => 4),
        onDone: { target: 'lying', actions: assign({ thrown: ({ event }) => event.output }) },
      },
    },
    lying: { type: 'final' },
  },
})

/** Children that are started by actions belong to no state, and send the machine an event when they end. */
const backup = setup({
  types: {
    context: {} as { saved: string[] },
    events: {} as { type: 'SAVE'; file: string } | { type: 'xstate.done.actor.*'; output: string },
  },
  actors: { copy: fromPromise(async ({ input }: { input: { file: string } }) => `copy of ${input.file}`) },
  actions: { announce: () => {} },
}).createMachine({
  id: 'backup',
  context: { saved: [] },
  entry: spawnChild('copy', { id: 'copy-index', input: { file: 'index' } }),
  on: {
    SAVE: {
      actions: enqueueActions(({ enqueue, event }) => {
        enqueue.spawnChild('copy', { id: `copy-${event.file}`, input: { file: event.file } })
        enqueue('announce')
      }),
    },
    'xstate.done.actor.*': { actions: assign({ saved: ({ context, event }) => [...context.saved, event.output] }) },
  },
})

export const workShapes: Shape[] = [
  { name: 'a payment gets its receipt from a promise', machine: payment, input: { amount: 21 }, script: ['PAY'] },
  {
    name: 'a login is locked after two wrong passwords',
    machine: login,
    script: [
      { type: 'TRY', password: 'a' },
      { type: 'TRY', password: 'b' },
      { type: 'TRY', password: 'sesame' },
      30_000,
      { type: 'TRY', password: 'sesame' },
    ],
  },
  {
    name: 'a download is left before it ends',
    machine: download,
    script: ['START', 'CANCEL', 'START', 4999, 'CANCEL', 1, 'START', 5000, 'START', 'CANCEL'],
  },
  {
    name: 'a chat sends and receives through a callback',
    machine: chat,
    script: [
      { type: 'SAY', text: 'early' },
      { type: 'CONNECT', room: 'tea' },
      { type: 'SAY', text: 'hello' },
      'LEAVE',
      { type: 'SAY', text: 'gone' },
      { type: 'CONNECT', room: 'jam' },
      { type: 'SAY', text: 'again' },
    ],
  },
  {
    name: 'a thermometer reads what an observable gives',
    machine: thermometer,
    script: ['MEASURE', 'MEASURE'],
  },
  { name: 'an event observable sends its values as events', machine: feed, script: ['REFRESH', 'REFRESH'] },
  {
    name: 'a turnstile counts coins in a reducer',
    machine: turnstile,
    script: ['COIN', 'PUSH', 'COIN', 'PUSH', 'PUSH', 'PUSH'],
  },
  {
    name: 'two actors of one state start again when it is entered anew',
    machine: scanner,
    script: ['AGAIN', 'AGAIN', 'OFF', 'AGAIN'],
  },
  { name: 'a promise without a name', machine: dice, script: ['THROW', 'THROW'] },
  {
    name: 'promises that actions start',
    machine: backup,
    script: [
      { type: 'SAVE', file: 'a' },
      { type: 'SAVE', file: 'b' },
    ],
  },
]
