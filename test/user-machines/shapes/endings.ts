// Shapes of machines that end and give their output to the machine above them, over two levels and with timers and promises below.

import { assign, forwardTo, fromPromise, setup } from 'xstate'
import type { Shape } from '../machine-runner.ts'

const walk = setup({
  types: {
    context: {} as { steps: number },
    events: {} as { type: 'STEP' } | { type: 'SQUIRREL' } | { type: 'HOME' },
    output: {} as { steps: number; how: string },
  },
}).createMachine({
  id: 'walk',
  context: { steps: 0 },
  initial: 'leash',
  states: {
    leash: {
      on: {
        STEP: { actions: assign({ steps: ({ context }) => context.steps + 1 }) },
        SQUIRREL: 'chase',
        HOME: 'calm',
      },
    },
    chase: {
      entry: assign({ steps: ({ context }) => context.steps + 100 }),
      after: { 30000: 'tired' },
    },
    calm: { type: 'final', output: 'calm' },
    tired: { type: 'final', output: 'tired' },
  },
  output: ({ context, event }) => ({ steps: context.steps, how: String(event.output) }),
})

/** A walk ends in one of two final states; which of them it was is in its output. All events go on to it. */
const dog = setup({
  types: {
    context: {} as { walks: { steps: number; how: string }[] },
    events: {} as { type: 'LEASH' } | { type: 'STEP' } | { type: 'SQUIRREL' } | { type: 'HOME' },
  },
  actors: { walk },
  guards: { wasTired: (_scope, params: { how: string }) => params.how === 'tired' },
}).createMachine({
  id: 'dog',
  context: { walks: [] },
  initial: 'waiting',
  states: {
    waiting: { on: { LEASH: 'walking' } },
    walking: {
      invoke: {
        src: 'walk',
        id: 'walk',
        onDone: [
          {
            guard: { type: 'wasTired', params: ({ event }) => ({ how: event.output.how }) },
            target: 'asleep',
            actions: assign({ walks: ({ context, event }) => [...context.walks, event.output] }),
          },
          {
            target: 'waiting',
            actions: assign({ walks: ({ context, event }) => [...context.walks, event.output] }),
          },
        ],
      },
      on: {
        STEP: { actions: forwardTo('walk') },
        SQUIRREL: { actions: forwardTo('walk') },
        HOME: { actions: forwardTo('walk') },
      },
    },
    asleep: { type: 'final' },
  },
})

const print = setup({
  types: {
    context: {} as { pages: number },
    input: {} as { copies: number },
    output: {} as { pages: number },
  },
  actors: { layout: fromPromise(async ({ input }: { input: { copies: number } }) => input.copies * 5) },
  actions: { whirr: () => {} },
}).createMachine({
  id: 'print',
  context: ({ input }) => ({ pages: input.copies }),
  initial: 'layout',
  states: {
    layout: {
      invoke: {
        src: 'layout',
        id: 'layout',
        input: ({ context }) => ({ copies: context.pages }),
        onDone: { target: 'printing', actions: assign({ pages: ({ event }) => event.output }) },
      },
    },
    printing: { entry: 'whirr', after: { 300: 'printed' } },
    printed: { type: 'final' },
  },
  output: ({ context }) => ({ pages: context.pages }),
})

const publish = setup({
  types: {
    context: {} as { pages: number },
    input: {} as { copies: number },
    output: {} as { pages: number },
    events: {} as { type: 'STOP' },
  },
  actors: { print },
  actions: { bind: () => {} },
}).createMachine({
  id: 'publish',
  context: ({ input }) => ({ pages: input.copies }),
  initial: 'printing',
  states: {
    printing: {
      invoke: {
        src: 'print',
        id: 'print',
        input: ({ context }) => ({ copies: context.pages }),
        onDone: { target: 'binding', actions: assign({ pages: ({ event }) => event.output.pages }) },
      },
    },
    binding: { exit: 'bind', after: { 700: 'bound' } },
    bound: { type: 'final' },
  },
  output: ({ context }) => ({ pages: context.pages }),
})

/** A machine invokes a machine that invokes a machine, with a promise and timers below. */
const book = setup({
  types: {
    context: {} as { pages: number; editions: number },
    events: {} as { type: 'ABANDON' } | { type: 'PUBLISH' },
  },
  actors: { publish },
}).createMachine({
  id: 'book',
  context: { pages: 0, editions: 0 },
  initial: 'written',
  states: {
    written: { on: { PUBLISH: 'publishing' } },
    publishing: {
      invoke: {
        src: 'publish',
        id: 'publish',
        input: { copies: 2 },
        onDone: {
          target: 'written',
          actions: assign({
            pages: ({ context, event }) => context.pages + event.output.pages,
            editions: ({ context }) => context.editions + 1,
          }),
        },
      },
      on: { ABANDON: 'written' },
    },
  },
})

export const endingShapes: Shape[] = [
  {
    name: 'a dog comes home calm, and then tired',
    machine: dog,
    script: ['LEASH', 'STEP', 'STEP', 'HOME', 'LEASH', 'STEP', 'SQUIRREL', 'HOME', 29_999, 1],
  },
  {
    name: 'a book is published by a machine within a machine',
    machine: book,
    script: ['PUBLISH', 200, 100, 700, 'PUBLISH', 250, 'ABANDON', 1000, 'PUBLISH', 5000],
  },
]
