// Shapes of states: guards, nesting, parallel regions, history, wildcards, the order of actions, input and output.

import { and, assign, not, or, raise, setup, stateIn } from 'xstate'
import type { Shape } from '../machine-runner.ts'

/** A raised event is handled in the macrostep that raised it, and an eventless transition follows as soon as its guard holds. */
const order = setup({
  types: {
    context: {} as { items: string[]; counted: number[] },
    events: {} as { type: 'ADD'; item: string } | { type: 'ADDED' },
    output: {} as { items: string[]; counted: number[] },
  },
  guards: { isFull: ({ context }) => context.items.length >= 3 },
}).createMachine({
  id: 'order',
  context: { items: [], counted: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        ADD: {
          actions: [
            assign({ items: ({ context, event }) => [...context.items, event.item] }),
            raise({ type: 'ADDED' }),
          ],
        },
        ADDED: { actions: assign({ counted: ({ context }) => [...context.counted, context.items.length] }) },
      },
      always: { guard: 'isFull', target: 'packed' },
    },
    packed: {
      on: { ADDED: { target: 'sent', actions: assign({ counted: ({ context }) => [...context.counted, 99] }) } },
    },
    sent: { type: 'final' },
  },
  output: ({ context }) => context,
})

/** The final state of a compound state has an output, which the transition of `onDone` gets. */
const wizard = setup({
  types: {
    context: {} as { name: string; plan: string; accepted: unknown },
    events: {} as
      | { type: 'NEXT'; name?: string; plan?: string }
      | { type: 'BACK' }
      | { type: 'SUBMIT' }
      | { type: 'EDIT' },
    output: {} as { account: unknown },
  },
  guards: {
    hasName: ({ event }) => event.type === 'NEXT' && (event.name ?? '') !== '',
  },
}).createMachine({
  id: 'wizard',
  context: { name: '', plan: 'free', accepted: null },
  initial: 'filling',
  states: {
    filling: {
      initial: 'name',
      states: {
        name: {
          on: {
            NEXT: {
              guard: 'hasName',
              target: 'plan',
              actions: assign({ name: ({ event }) => event.name ?? '' }),
            },
          },
        },
        plan: {
          on: {
            BACK: 'name',
            NEXT: { target: 'review', actions: assign({ plan: ({ context, event }) => event.plan ?? context.plan }) },
          },
        },
        review: { on: { BACK: 'plan', SUBMIT: 'complete' } },
        complete: { type: 'final', output: ({ context }) => ({ name: context.name, plan: context.plan }) },
      },
      onDone: { target: 'confirming', actions: assign({ accepted: ({ event }) => event.output }) },
    },
    confirming: { on: { EDIT: 'filling', SUBMIT: 'created' } },
    created: { type: 'final' },
  },
  output: ({ context }) => ({ account: context.accepted }),
})

/** One event moves several regions. */
const player = setup({
  types: {
    context: {} as { volume: number; track: number },
    events: {} as
      | { type: 'PLAY' }
      | { type: 'PAUSE' }
      | { type: 'NEXT' }
      | { type: 'LOUDER' }
      | { type: 'MUTE' }
      | { type: 'STOP' },
  },
  actions: { showTrack: () => {}, showVolume: () => {} },
}).createMachine({
  id: 'player',
  type: 'parallel',
  context: { volume: 5, track: 1 },
  states: {
    playback: {
      initial: 'paused',
      on: {
        NEXT: { target: '.playing', actions: [assign({ track: ({ context }) => context.track + 1 }), 'showTrack'] },
      },
      states: {
        paused: { on: { PLAY: 'playing' } },
        playing: { on: { PAUSE: 'paused', STOP: 'paused' } },
      },
    },
    sound: {
      initial: 'on',
      states: {
        on: {
          on: {
            LOUDER: {
              guard: ({ context }) => context.volume < 7,
              actions: [assign({ volume: ({ context }) => context.volume + 1 }), 'showVolume'],
            },
            MUTE: 'muted',
            STOP: 'muted',
          },
        },
        muted: { on: { MUTE: 'on', LOUDER: { target: 'on', actions: 'showVolume' } } },
      },
    },
  },
})

/** A parallel state is done when each of its regions is. */
const approvals = setup({
  types: {
    context: {} as { by: string[] },
    events: {} as { type: 'LEGAL' } | { type: 'FINANCE' } | { type: 'REVOKE' },
  },
}).createMachine({
  id: 'approvals',
  context: { by: [] },
  initial: 'reviewing',
  states: {
    reviewing: {
      type: 'parallel',
      states: {
        legal: {
          initial: 'open',
          states: { open: { on: { LEGAL: 'approved' } }, approved: { type: 'final' } },
          onDone: { actions: assign({ by: ({ context }) => [...context.by, 'legal'] }) },
        },
        finance: {
          initial: 'open',
          states: { open: { on: { FINANCE: 'approved' } }, approved: { type: 'final' } },
          onDone: { actions: assign({ by: ({ context }) => [...context.by, 'finance'] }) },
        },
      },
      onDone: 'approved',
      on: { REVOKE: { target: 'reviewing', reenter: true } },
    },
    approved: { on: { REVOKE: 'reviewing' } },
  },
})

/** Shallow history enters the last child anew, deep history the last state of each level. */
const editor = setup({
  types: { events: {} as { type: 'NEXT' } | { type: 'CLOSE' } | { type: 'REOPEN' } | { type: 'RESTORE' } },
}).createMachine({
  id: 'editor',
  initial: 'open',
  states: {
    open: {
      initial: 'reading',
      states: {
        reading: { on: { NEXT: 'editing' } },
        editing: {
          initial: 'text',
          states: { text: { on: { NEXT: 'styles' } }, styles: {} },
        },
        lastMode: { type: 'history' },
        lastPlace: { type: 'history', history: 'deep' },
      },
      on: { CLOSE: 'closed' },
    },
    closed: { on: { REOPEN: 'open.lastMode', RESTORE: 'open.lastPlace' } },
  },
})

/** Exit actions run from the inside, entry actions from the outside; a transition without reentry runs neither of its own state. */
const house = setup({
  types: { events: {} as { type: 'OPEN' } | { type: 'KNOCK' } | { type: 'RESET' } | { type: 'LEAVE' } },
  actions: {
    lightsOn: () => {},
    lightsOff: () => {},
    bolt: () => {},
    unbolt: () => {},
    creak: () => {},
    ring: () => {},
    farewell: () => {},
  },
}).createMachine({
  id: 'home',
  initial: 'inside',
  states: {
    inside: {
      entry: 'lightsOn',
      exit: 'lightsOff',
      initial: 'shut',
      on: {
        KNOCK: { target: '.shut', actions: 'ring' },
        RESET: { target: 'inside', reenter: true, actions: 'ring' },
        LEAVE: { target: 'street', actions: 'farewell' },
      },
      states: {
        shut: { entry: 'bolt', exit: 'unbolt', on: { OPEN: { target: 'ajar', actions: 'creak' } } },
        ajar: { entry: 'creak' },
      },
    },
    street: { entry: 'farewell' },
  },
})

/** The most precise descriptor wins; a forbidden event reaches no wildcard of the same state. */
const sensors = setup({
  types: {
    context: {} as { seen: string[] },
    events: {} as
      | { type: 'sensor.heat.high' }
      | { type: 'sensor.heat.low' }
      | { type: 'sensor.motion' }
      | { type: 'window' }
      | { type: 'ping' },
  },
}).createMachine({
  id: 'sensors',
  context: { seen: [] },
  on: {
    'sensor.*': { actions: assign({ seen: ({ context, event }) => [...context.seen, `sensor ${event.type}`] }) },
    'sensor.heat.*': { actions: assign({ seen: ({ context, event }) => [...context.seen, `heat ${event.type}`] }) },
    'sensor.heat.high': { actions: assign({ seen: ({ context }) => [...context.seen, 'alarm'] }) },
    ping: {},
    '*': { actions: assign({ seen: ({ context, event }) => [...context.seen, `other ${event.type}`] }) },
  },
})

/** Guards that combine others, and that ask where another region is. */
const panel = setup({
  types: {
    context: {} as { tries: number },
    events: {} as { type: 'ARM' } | { type: 'SHUT' } | { type: 'OPEN' } | { type: 'DISARM'; code: string },
  },
  guards: {
    codeIs: ({ event }, params: { code: string }) => event.type === 'DISARM' && event.code === params.code,
    isLocked: ({ context }) => context.tries >= 2,
  },
}).createMachine({
  id: 'panel',
  type: 'parallel',
  context: { tries: 0 },
  states: {
    alarm: {
      initial: 'off',
      states: {
        off: { on: { ARM: { guard: and([stateIn({ window: 'shut' }), not('isLocked')]), target: 'on' } } },
        on: {
          on: {
            DISARM: [
              {
                guard: and([
                  or([
                    { type: 'codeIs', params: { code: '1234' } },
                    { type: 'codeIs', params: { code: '0000' } },
                  ]),
                  not('isLocked'),
                ]),
                target: 'off',
              },
              { actions: assign({ tries: ({ context }) => context.tries + 1 }) },
            ],
          },
        },
      },
    },
    window: {
      initial: 'open',
      states: {
        open: { on: { SHUT: 'shut' } },
        shut: { on: { OPEN: { guard: not(stateIn('#panel.alarm.on')), target: 'open' } } },
      },
    },
  },
})

/** The context and the output are made from the input. */
const ticket = setup({
  types: {
    context: {} as { seat: { row: number; place: string }; price: number },
    input: {} as { seat: { row: number; place: string }; discount?: number },
    events: {} as { type: 'UPGRADE' } | { type: 'PAY' },
    output: {} as { text: string; price: number },
  },
}).createMachine({
  id: 'ticket',
  context: ({ input }) => ({ seat: input.seat, price: 100 - (input.discount ?? 0) }),
  initial: 'reserved',
  states: {
    reserved: {
      on: {
        UPGRADE: { actions: assign({ price: ({ context }) => context.price + 50 }) },
        PAY: 'paid',
      },
    },
    paid: { type: 'final' },
  },
  output: ({ context }) => ({ text: `${context.seat.row}${context.seat.place}`, price: context.price }),
})

export const flowShapes: Shape[] = [
  {
    name: 'an order is packed when it is full',
    machine: order,
    script: [
      { type: 'ADD', item: 'tea' },
      { type: 'ADD', item: 'milk' },
      { type: 'ADD', item: 'salt' },
      { type: 'ADD', item: 'late' },
    ],
  },
  {
    name: 'a form of several steps goes back and forth',
    machine: wizard,
    script: [
      { type: 'NEXT', name: '' },
      { type: 'NEXT', name: 'Ada' },
      'BACK',
      { type: 'NEXT', name: 'Grace' },
      { type: 'NEXT', plan: 'team' },
      'SUBMIT',
      'EDIT',
      { type: 'NEXT', name: 'Grace H.' },
      'NEXT',
      'SUBMIT',
      'SUBMIT',
    ],
  },
  {
    name: 'a media player has regions of playback and sound',
    machine: player,
    script: ['LOUDER', 'LOUDER', 'LOUDER', 'PLAY', 'NEXT', 'MUTE', 'LOUDER', 'STOP', 'NEXT'],
  },
  {
    name: 'two approvals in any order, and their revocation',
    machine: approvals,
    script: ['FINANCE', 'REVOKE', 'LEGAL', 'FINANCE', 'REVOKE', 'FINANCE', 'LEGAL'],
  },
  {
    name: 'an editor opens where it was closed',
    machine: editor,
    script: ['NEXT', 'NEXT', 'CLOSE', 'REOPEN', 'NEXT', 'CLOSE', 'RESTORE'],
  },
  {
    name: 'entry, exit and transition actions run in order',
    machine: house,
    script: ['OPEN', 'KNOCK', 'RESET', 'OPEN', 'LEAVE'],
  },
  {
    name: 'wildcards take what no other descriptor takes',
    machine: sensors,
    script: ['sensor.heat.high', 'sensor.heat.low', 'sensor.motion', 'ping', 'window'],
  },
  {
    name: 'combined guards ask for the state of another region',
    machine: panel,
    script: [
      'ARM',
      'SHUT',
      'ARM',
      'OPEN',
      { type: 'DISARM', code: '9' },
      { type: 'DISARM', code: '0000' },
      'OPEN',
      'SHUT',
      'ARM',
      { type: 'DISARM', code: '8' },
      { type: 'DISARM', code: '1234' },
    ],
  },
  {
    name: 'a ticket is made from its input',
    machine: ticket,
    input: { seat: { row: 12, place: 'C' }, discount: 20 },
    script: ['UPGRADE', 'PAY', 'UPGRADE'],
  },
]
