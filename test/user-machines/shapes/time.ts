// Shapes of time: fixed and computed delays, leaving and entering anew, delayed events with an id, cancellation.

import { assign, cancel, fromPromise, raise, sendParent, sendTo, setup } from 'xstate'
import type { Shape } from '../machine-runner.ts'

/** A large advance passes several timers, each of which counts from the one before. Entering anew begins a delay again. */
const trafficLight = setup({
  types: {
    context: {} as { cycles: number },
    events: {} as { type: 'PEDESTRIAN' } | { type: 'EXTEND' },
  },
}).createMachine({
  id: 'light',
  context: { cycles: 0 },
  initial: 'green',
  states: {
    green: { after: { 10000: 'yellow' }, on: { EXTEND: { target: 'green', reenter: true } } },
    yellow: { after: { 2000: 'red' } },
    red: {
      initial: 'wait',
      entry: assign({ cycles: ({ context }) => context.cycles + 1 }),
      states: {
        wait: { on: { PEDESTRIAN: 'walk' }, after: { 8000: 'stop' } },
        walk: { after: { 5000: 'stop' } },
        stop: { type: 'final' },
      },
      onDone: 'green',
    },
  },
})

/** The pause before each try is computed from the context. */
const sync = setup({
  types: {
    context: {} as { attempt: number; errors: string[]; files: number },
    events: {} as { type: 'NOW' },
    output: {} as { files: number; attempts: number },
  },
  actors: {
    upload: fromPromise(async ({ input }: { input: { attempt: number } }) => {
      if (input.attempt < 3) throw new Error(`refused ${input.attempt}`)
      return { files: 7 }
    }),
  },
  delays: { pause: ({ context }) => 1000 * 2 ** context.attempt },
}).createMachine({
  id: 'sync',
  context: { attempt: 0, errors: [], files: 0 },
  initial: 'uploading',
  states: {
    uploading: {
      invoke: {
        src: 'upload',
        id: 'upload',
        input: ({ context }) => ({ attempt: context.attempt }),
        onDone: { target: 'synced', actions: assign({ files: ({ event }) => event.output.files }) },
        onError: {
          target: 'pausing',
          actions: assign({
            attempt: ({ context }) => context.attempt + 1,
            errors: ({ context, event }) => [...context.errors, (event.error as Error).message],
          }),
        },
      },
    },
    pausing: { after: { pause: 'uploading' }, on: { NOW: 'uploading' } },
    synced: { type: 'final' },
  },
  output: ({ context }) => ({ files: context.files, attempts: context.attempt + 1 }),
})

/** Each key cancels the search that waits and begins to wait anew. */
const searchBox = setup({
  types: {
    context: {} as { text: string; searches: string[] },
    events: {} as { type: 'KEY'; key: string } | { type: 'SEARCH' } | { type: 'CLEAR' },
  },
}).createMachine({
  id: 'search',
  context: { text: '', searches: [] },
  on: {
    KEY: {
      actions: [
        assign({ text: ({ context, event }) => context.text + event.key }),
        cancel('search'),
        raise({ type: 'SEARCH' }, { id: 'search', delay: 300 }),
      ],
    },
    SEARCH: { actions: assign({ searches: ({ context }) => [...context.searches, context.text] }) },
    CLEAR: { actions: [assign({ text: '' }), cancel('search'), cancel('no such timer')] },
  },
})

/** A delayed event that is armed twice under one id comes twice; to cancel it takes back the later one. */
const doorbell = setup({
  types: { context: {} as { rings: number }, events: {} as { type: 'PRESS' } | { type: 'RING' } | { type: 'HOLD' } },
}).createMachine({
  id: 'bell',
  context: { rings: 0 },
  on: {
    PRESS: { actions: raise({ type: 'RING' }, { id: 'ring', delay: 100 }) },
    RING: { actions: assign({ rings: ({ context }) => context.rings + 1 }) },
    HOLD: { actions: cancel('ring') },
  },
})

/** Activity cancels the delay of its state. A delayed event belongs to no state and comes after it has been left. */
const session = setup({
  types: {
    context: {} as { reminders: number; activity: number },
    events: {} as { type: 'ACTIVITY' } | { type: 'REMIND' } | { type: 'SIGN_IN' },
  },
  delays: { idle: 60_000, remindAfter: 90_000 },
}).createMachine({
  id: 'session',
  context: { reminders: 0, activity: 0 },
  initial: 'away',
  on: { REMIND: { actions: assign({ reminders: ({ context }) => context.reminders + 1 }) } },
  states: {
    away: { on: { SIGN_IN: { target: 'present', actions: raise({ type: 'REMIND' }, { delay: 'remindAfter' }) } } },
    present: {
      after: { idle: 'locked' },
      on: {
        ACTIVITY: {
          target: 'present',
          reenter: true,
          actions: assign({ activity: ({ context }) => context.activity + 1 }),
        },
      },
    },
    locked: { after: { 600000: 'away' }, on: { SIGN_IN: 'present' } },
  },
})

/** Of two delays of one state the earlier wins unless its guard refuses it; delays of parallel regions pass side by side. */
const oven = setup({
  types: {
    context: {} as { degrees: number; beeps: number },
    events: {} as { type: 'HEAT'; degrees: number } | { type: 'ENOUGH' },
  },
  guards: { isHot: ({ context }) => context.degrees >= 200 },
}).createMachine({
  id: 'oven',
  type: 'parallel',
  context: { degrees: 20, beeps: 0 },
  states: {
    heat: {
      initial: 'warming',
      on: { HEAT: { actions: assign({ degrees: ({ event }) => event.degrees }) } },
      states: {
        warming: { after: { 500: { guard: 'isHot', target: 'ready' }, 900: 'cold' } },
        ready: {},
        cold: { on: { HEAT: 'warming' } },
      },
    },
    timer: {
      initial: 'ticking',
      states: {
        ticking: {
          after: {
            400: { target: 'ticking', reenter: true, actions: assign({ beeps: ({ context }) => context.beeps + 1 }) },
          },
          on: { ENOUGH: 'off' },
        },
        off: { type: 'final' },
      },
    },
  },
})

const ticker = setup({
  types: { context: {} as { ticks: number }, events: {} as { type: 'TICK'; by: number } },
}).createMachine({
  id: 'ticker',
  context: { ticks: 0 },
  on: {
    TICK: {
      actions: [
        assign({ ticks: ({ context, event }) => context.ticks + event.by }),
        sendParent(({ context }) => ({ type: 'TICKED', total: context.ticks })),
      ],
    },
  },
})

/** What a machine sends a child later, and what it takes back in time. */
const metronome = setup({
  types: {
    context: {} as { totals: number[] },
    events: {} as { type: 'SOON'; by: number } | { type: 'NOT_NOW' } | { type: 'TICKED'; total: number },
  },
  actors: { ticker },
}).createMachine({
  id: 'metronome',
  context: { totals: [] },
  invoke: { src: 'ticker', id: 'ticker' },
  on: {
    SOON: {
      actions: sendTo('ticker', ({ event }) => ({ type: 'TICK', by: event.by }) as const, {
        id: 'soon',
        delay: ({ event }) => 100 * event.by,
      }),
    },
    NOT_NOW: { actions: cancel('soon') },
    TICKED: { actions: assign({ totals: ({ context, event }) => [...context.totals, event.total] }) },
  },
})

export const timeShapes: Shape[] = [
  {
    name: 'a traffic light passes its colours, several in one advance',
    machine: trafficLight,
    script: [6000, 'EXTEND', 6000, 4000, 2000, 'PEDESTRIAN', 4999, 1, 60_000],
  },
  {
    name: 'an upload is tried again after growing pauses',
    machine: sync,
    script: [1000, 1000, 3999, 'NOW', 60_000],
  },
  {
    name: 'a search waits until the keys rest',
    machine: searchBox,
    script: [
      { type: 'KEY', key: 'a' },
      200,
      { type: 'KEY', key: 'b' },
      299,
      1,
      { type: 'KEY', key: 'c' },
      'CLEAR',
      1000,
      { type: 'KEY', key: 'd' },
      5000,
    ],
  },
  {
    name: 'two delayed events of one id both come',
    machine: doorbell,
    script: ['PRESS', 50, 'PRESS', 50, 50, 'PRESS', 'HOLD', 500, 'PRESS', 20, 'PRESS', 'HOLD', 500],
  },
  {
    name: 'a session is locked when it is idle',
    machine: session,
    script: ['SIGN_IN', 50_000, 'ACTIVITY', 50_000, 10_000, 'SIGN_IN', 10_000, 700_000, 'SIGN_IN', 1],
  },
  {
    name: 'delays with guards pass in parallel regions',
    machine: oven,
    script: [500, 400, { type: 'HEAT', degrees: 180 }, 100, { type: 'HEAT', degrees: 220 }, 450, 'ENOUGH', 2000],
  },
  {
    name: 'a child gets an event later, unless it is taken back',
    machine: metronome,
    script: [{ type: 'SOON', by: 5 }, 400, 100, { type: 'SOON', by: 2 }, 'NOT_NOW', 1000, { type: 'SOON', by: 1 }, 100],
  },
]
