// Shapes of actions: conditional ones, params, emitted events, logs, events to oneself, and errors.

import { assign, emit, enqueueActions, fromPromise, log, raise, sendTo, setup } from 'xstate'
import type { Shape } from '../machine-runner.ts'

/** Which actions run is decided before the first of them: `check` sees the context from before the event, and an assign what others have set. */
const game = setup({
  types: {
    context: {} as { points: number; level: number },
    events: {} as { type: 'SCORE'; points: number } | { type: 'LEVELLED' },
    emitted: {} as { type: 'level'; level: number },
  },
  guards: { reaches: ({ context }, params: { points: number }) => context.points >= params.points },
  actions: { cheer: (_scope, _params: { level: number }) => {}, groan: () => {} },
}).createMachine({
  id: 'game',
  context: { points: 0, level: 1 },
  on: {
    SCORE: {
      actions: enqueueActions(({ enqueue, check, context, event }) => {
        enqueue.assign({ points: context.points + event.points })
        if (check({ type: 'reaches', params: { points: 10 * context.level } })) {
          enqueue.assign({ level: ({ context: scored }) => scored.level + 1 })
          enqueue({ type: 'cheer', params: { level: context.level + 1 } })
          enqueue.emit({ type: 'level', level: context.level + 1 })
          enqueue.raise({ type: 'LEVELLED' })
        } else enqueue('groan')
      }),
    },
    LEVELLED: { actions: assign({ points: ({ context }) => context.points + 1 }) },
  },
})

/** The params of an action are computed from the context of its place in the list. */
const kitchen = setup({
  types: {
    context: {} as { dishes: number },
    events: {} as { type: 'ORDER' } | { type: 'SERVE' },
    emitted: {} as { type: 'served'; dishes: number } | { type: 'bill' },
  },
  actions: {
    cook: (_scope, _params: { dish: number }) => {},
    ring: () => {},
    count: assign({ dishes: ({ context }) => context.dishes + 1 }),
    serveSoon: raise({ type: 'SERVE' }, { delay: 50 }),
  },
}).createMachine({
  id: 'kitchen',
  context: { dishes: 0 },
  on: {
    ORDER: {
      actions: [
        { type: 'cook', params: ({ context }) => ({ dish: context.dishes }) },
        'count',
        { type: 'cook', params: ({ context }) => ({ dish: context.dishes }) },
        'serveSoon',
      ],
    },
    SERVE: {
      actions: [
        'ring',
        emit(({ context }) => ({ type: 'served', dishes: context.dishes })),
        log(({ context }) => `dishes: ${context.dishes}`, 'kitchen'),
        log('served'),
        emit({ type: 'bill' }),
      ],
    },
  },
})

/** An action may send an event to its own machine, which handles it after the present one. */
const echo = setup({
  types: {
    context: {} as { order: string[] },
    events: {} as { type: 'CALL' } | { type: 'ANSWER' } | { type: 'RAISED' } | { type: 'SENT' },
  },
  actions: { answer: ({ self }) => self.send({ type: 'ANSWER' }) },
}).createMachine({
  id: 'echo',
  context: { order: [] },
  initial: 'quiet',
  on: {
    RAISED: { actions: assign({ order: ({ context }) => [...context.order, 'raised'] }) },
    SENT: { actions: assign({ order: ({ context }) => [...context.order, 'sent'] }) },
  },
  states: {
    quiet: { on: { CALL: { target: 'calling', actions: ['answer', raise({ type: 'RAISED' })] } } },
    calling: {
      on: {
        ANSWER: {
          target: 'answered',
          actions: [
            assign({ order: ({ context }) => [...context.order, 'answer'] }),
            sendTo(({ self }) => self, { type: 'SENT' }),
            raise({ type: 'RAISED' }),
          ],
        },
      },
    },
    answered: {},
  },
})

/** A machine whose assign throws has failed; later events change nothing. */
const calculator = setup({
  types: { context: {} as { result: number }, events: {} as { type: 'DIVIDE'; by: number } },
}).createMachine({
  id: 'calculator',
  context: { result: 100 },
  initial: 'ready',
  states: {
    ready: {
      on: {
        DIVIDE: {
          target: 'ready',
          reenter: true,
          actions: assign({
            result: ({ context, event }) => {
              if (event.by === 0) throw new Error('division by zero')
              return context.result / event.by
            },
          }),
        },
      },
      after: { 1000: 'off' },
    },
    off: {},
  },
})

const broken = fromPromise(async ({ input }: { input: { part: string } }) => {
  throw new Error(`${input.part} is broken`)
})

/** A failed promise that no transition handles is the failure of its machine. */
const robot = setup({
  types: { context: {} as { tasks: number }, events: {} as { type: 'WORK' } },
  actors: { broken },
}).createMachine({
  id: 'robot',
  context: { tasks: 0 },
  initial: 'idle',
  states: {
    idle: { on: { WORK: 'working' } },
    working: {
      entry: assign({ tasks: ({ context }) => context.tasks + 1 }),
      invoke: { src: 'broken', id: 'arm', input: { part: 'the arm' } },
    },
  },
})

/** The failure of a child machine is an event of its parent, with the error of the promise below. */
const factory = setup({
  types: { context: {} as { reports: string[] }, events: {} as { type: 'REPLACE' } | { type: 'WORK' } },
  actors: { robot },
}).createMachine({
  id: 'factory',
  context: { reports: [] },
  initial: 'running',
  states: {
    running: {
      invoke: {
        src: 'robot',
        id: 'robot',
        onError: {
          target: 'halted',
          actions: assign({ reports: ({ context, event }) => [...context.reports, (event.error as Error).message] }),
        },
      },
      on: { WORK: { actions: sendTo('robot', { type: 'WORK' }) } },
    },
    halted: { on: { REPLACE: 'running' } },
  },
})

/** A guard that throws is the failure of its machine. */
const gate = setup({
  types: { context: {} as { opened: number }, events: {} as { type: 'OPEN'; card?: string } },
  guards: {
    isKnown: (_scope, params: { card: string | undefined }) => {
      if (params.card === undefined) throw new Error('no card')
      return params.card === 'A1'
    },
  },
}).createMachine({
  id: 'gate',
  context: { opened: 0 },
  on: {
    OPEN: {
      guard: { type: 'isKnown', params: ({ event }) => ({ card: event.card }) },
      actions: assign({ opened: ({ context }) => context.opened + 1 }),
    },
  },
})

export const effectShapes: Shape[] = [
  {
    name: 'a game decides which actions follow a score',
    machine: game,
    script: [
      { type: 'SCORE', points: 4 },
      { type: 'SCORE', points: 7 },
      { type: 'SCORE', points: 1 },
      { type: 'SCORE', points: 30 },
    ],
  },
  {
    name: 'a kitchen emits and logs what it serves',
    machine: kitchen,
    script: ['ORDER', 25, 'ORDER', 25, 25, 'SERVE'],
  },
  { name: 'an action sends an event to its own machine', machine: echo, script: ['CALL', 'CALL'] },
  {
    name: 'an error in an assign ends the machine',
    machine: calculator,
    script: [{ type: 'DIVIDE', by: 4 }, { type: 'DIVIDE', by: 0 }, { type: 'DIVIDE', by: 5 }, 1000],
  },
  { name: 'a failed promise that nothing handles ends the machine', machine: robot, script: ['WORK', 'WORK'] },
  {
    name: 'a failed child machine is replaced',
    machine: factory,
    script: ['WORK', 'REPLACE', 'WORK', 'REPLACE'],
  },
  {
    name: 'an error in a guard ends the machine',
    machine: gate,
    script: [{ type: 'OPEN', card: 'A1' }, { type: 'OPEN', card: 'B2' }, 'OPEN', { type: 'OPEN', card: 'A1' }],
  },
]
