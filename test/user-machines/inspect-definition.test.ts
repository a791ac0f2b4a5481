// What findingsOf finds in definitions of XState, and what it passes over.

import { describe, expect, it } from 'vitest'
import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  log,
  not,
  raise,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate'
import { z } from 'zod'
import { findingsOf } from '../../src/user-machines/inspect-definition.ts'

// The definitions are wrong on purpose, which the types of XState would refuse.
const machineOf = createMachine as (config: object, implementations?: object) => AnyStateMachine

/** Severity, place and problem, as the command line prints them. */
function found(config: object, implementations: object = {}): string[] {
  return findingsOf(machineOf({ id: 'order', ...config }, implementations)).map(
    ({ severity, place, problem }) => `${severity} ${place}: ${problem}`,
  )
}

// The same for delays that are named.
const raiseLater = raise as (event: object, options: object) => object
const sendLater = sendTo as (to: string, event: object, options: object) => object

const placesOf = (config: object, implementations: object = {}) =>
  found(config, implementations).map((line) => line.slice(0, line.indexOf(':')))

const quick = fromPromise(async () => 1)

it('findingsOf finds nothing in a machine whose parts are named and whose context is JSON', () => {
  const machine = setup({
    types: { context: {} as { n: number; by: string[] | undefined } },
    actors: { pay: quick, child: createMachine({ id: 'child', initial: 'a', states: { a: {} } }) },
    actions: { note: () => {}, later: raise({ type: 'LATE' }, { delay: 'soon' }) },
    guards: { open: () => true, both: and(['open', not('open')]) },
    delays: { soon: 10, late: ({ context }) => context.n },
  }).createMachine({
    id: 'order',
    context: { n: 0, by: undefined },
    initial: 'a',
    entry: [
      'note',
      { type: 'note' },
      'later',
      assign({ n: 1 }),
      emit({ type: 'x' }),
      log('x'),
      cancel('x'),
      stopChild('x'),
    ],
    states: {
      a: {
        after: { 1000: 'b', soon: 'b', late: 'b' },
        on: {
          PAY: { guard: 'both', target: 'b' },
          GO: { guard: and(['open', stateIn('a'), ({ context }) => context.n > 0]), target: 'b' },
          UP: {
            actions: [enqueueActions(() => {}), sendTo('x', { type: 'Y' }, { delay: 'soon' }), spawnChild('child')],
          },
        },
        meta: { ask: { question: 'Pay?', event: 'PAY' } },
      },
      b: { invoke: { src: 'pay', id: 'pay', onDone: 'c' } },
      c: { type: 'final' },
    },
  })
  expect(findingsOf(machine)).toEqual([])
})

describe('A name without an implementation', () => {
  it('is an error at each place of an action', () => {
    const config = {
      entry: 'one',
      exit: { type: 'two', params: {} },
      initial: { target: 'a', actions: 'three' },
      states: {
        a: { on: { GO: { actions: ['known', 'four'] } }, always: { guard: () => false, actions: 'toString' } },
      },
    }
    expect(found(config, { actions: { known: () => {} } })).toEqual([
      'error order › entry[0]: The action "one" has no implementation.',
      'error order › exit[0]: The action "two" has no implementation.',
      'error order › initial.actions[0]: The action "three" has no implementation.',
      'error order › a › GO[0].actions[1]: The action "four" has no implementation.',
      'error order › a › xstate.always[0].actions[0]: The action "toString" has no implementation.',
    ])
  })

  it('is an error for a guard, also inside of other guards', () => {
    const on = { A: { guard: 'one' }, B: { guard: { type: 'two' } }, C: { guard: and([not('three'), 'both']) } }
    expect(found({ on }, { guards: { both: and(['both', 'four']) } })).toEqual([
      'error order › A[0].guard: The guard "one" has no implementation.',
      'error order › B[0].guard: The guard "two" has no implementation.',
      'error order › C[0].guard: The guard "three" has no implementation.',
      'error order › C[0].guard: The guard "four" has no implementation.',
    ])
  })

  it('is an error for a delay of `after`, `raise` and `sendTo`, also in an action of setup()', () => {
    const config = {
      entry: [raiseLater({ type: 'A' }, { delay: 'one' }), sendLater('x', { type: 'A' }, { delay: 'two' })],
      initial: 'a',
      states: { a: { after: { three: 'a', 10: 'a', known: 'a' } } },
    }
    const later = raiseLater({ type: 'A' }, { delay: 'four' })
    expect(found(config, { delays: { known: 10 }, actions: { later } })).toEqual([
      'error order › entry[0]: The delay "one" has no implementation.',
      'error order › entry[1]: The delay "two" has no implementation.',
      'error order › a › after three: The delay "three" has no implementation.',
      'error order › action later: The delay "four" has no implementation.',
    ])
  })

  it('is an error for an actor that is invoked or spawned, and so is a function that is no actor', () => {
    const config = { entry: spawnChild('one'), invoke: { src: 'two' } }
    expect(found(config, { actors: { pay: async () => 1, two: undefined } })).toEqual([
      'error order › entry[0]: The actor "one" has no implementation.',
      'error order › invoke[0]: The actor "two" has no implementation.',
      'error order › actor pay: This is a function and no logic of an actor.',
    ])
  })
})

describe('The context', () => {
  class Money {
    toJSON() {
      return 1
    }
  }

  it('is an error where JSON does not carry it', () => {
    const context = {
      at: new Date(0),
      by: [{ map: new Map() }, undefined],
      set: new Set(),
      f: () => 1,
      n: Number.NaN,
      money: new Money(),
      big: 1n,
      sign: Symbol('x'),
      absent: undefined,
    }
    expect(
      found({ context }).map((line) =>
        line.replace(', which JSON does not carry, so it would be another value after a restart.', ''),
      ),
    ).toEqual([
      'error order › context.at: This is an instance of Date',
      'error order › context.by[0].map: This is an instance of Map',
      'error order › context.by[1]: This is undefined',
      'error order › context.set: This is an instance of Set',
      'error order › context.f: This is a function',
      'error order › context.n: This is NaN',
      'error order › context.money: This is an instance of Money',
      'error order › context.big: This is a BigInt',
      'error order › context.sign: This is a symbol',
    ])
  })

  it('may come from a function, which is called with an empty input', () => {
    const context = ({ input }: { input: { price?: number } }) => ({
      at: new Date(0),
      // Both depend on the input.
      twice: (input.price as number) * 2,
      list: [input.price],
    })
    expect(placesOf({ context })).toEqual(['error order › context.at'])
  })

  it('is not inspected where its function needs the input or an actor', () => {
    const spawning = ({ spawn }: { spawn: (name: string) => unknown }) => ({ at: new Date(0), ref: spawn('x') })
    expect(found({ context: spawning })).toEqual([])
    expect(
      found({ context: ({ input }: { input: { deep: { n: number } } }) => ({ at: new Date(input.deep.n) }) }),
    ).toEqual([])
  })
})

describe('What is found again by its place only', () => {
  it('is a warning for inline actions, and not for those of XState', () => {
    expect(placesOf({ entry: [assign({}), () => {}], on: { GO: { actions: () => {} } } })).toEqual([
      'warning order › entry[1]',
      'warning order › GO[0].actions[0]',
    ])
  })

  it('is a warning for an inline actor that is invoked, and an error for one that is spawned', () => {
    expect(
      placesOf({ entry: spawnChild(quick), invoke: [{ src: 'pay' }, { src: quick }] }, { actors: { pay: quick } }),
    ).toEqual(['error order › entry[0]', 'warning order › invoke[1]'])
  })
})

describe('Actors', () => {
  it('that begin anew after a restart are warnings: once by their name, else where they are invoked', () => {
    const actors = {
      promise: quick,
      callback: fromCallback(() => {}),
      observable: fromObservable(() => ({ subscribe: () => ({ unsubscribe() {} }) })),
      transition: fromTransition(() => 1, 1),
      own: { transition: (state: unknown) => state, getInitialSnapshot: () => ({ status: 'active' }) },
    }
    const invoke = [{ src: 'callback' }, { src: 'callback', id: 'again' }, { src: fromCallback(() => {}) }]
    expect(found({ invoke }, { actors })).toEqual([
      'warning order › actor callback: A callback keeps its state in memory, and begins anew after a restart.',
      'warning order › actor observable: An observable keeps its state in memory, and begins anew after a restart.',
      'warning order › actor transition: An actor of fromTransition keeps its state in memory, and begins anew after a restart.',
      'warning order › actor own: An actor with a logic of its own keeps its state in memory, and begins anew after a restart.',
      'warning order › invoke[2]: An inline actor is found again by its place: moving it holds the tasks in which it runs.',
      'warning order › invoke[2]: A callback keeps its state in memory, and begins anew after a restart.',
    ])
  })

  it('of a final state are warnings', () => {
    const states = { a: { type: 'final', invoke: { src: 'pay' } } }
    expect(placesOf({ initial: 'a', states }, { actors: { pay: quick } })).toEqual(['warning order › a › invoke[0]'])
  })

  it('with one id are a warning where both may run at once', () => {
    const pay = { invoke: { src: 'pay', id: 'pay' } }
    const implementations = { actors: { pay: quick } }
    const regions = { type: 'parallel', states: { a: { initial: 'x', states: { x: pay, y: {} } }, b: pay } }
    expect(found(regions, implementations)).toEqual([
      'warning order › b › invoke[0]: The id "pay" is also that of order › a › x › invoke[0], and both may run at once: one actor replaces the other.',
    ])
    expect(placesOf({ ...pay, initial: 'a', states: { a: pay } }, implementations)).toEqual([
      'warning order › a › invoke[0]',
    ])
    // One after the other, or without an id of their own.
    expect(found({ initial: 'a', states: { a: pay, b: pay } }, implementations)).toEqual([])
    const unnamed = { invoke: { src: 'pay' } }
    expect(found({ type: 'parallel', states: { a: unnamed, b: unnamed } }, implementations)).toEqual([])
  })
})

describe('meta.ask', () => {
  const asking = (ask: unknown, on: object = { PAY: {} }) => ({
    initial: 'a',
    states: { a: { initial: 'b', on: { UP: 'a' }, states: { b: { meta: { ask }, on } } } },
  })

  it.each([
    ['its event is handled by the state', { question: 'Pay?', event: 'PAY' }, { PAY: 'b' }],
    ['its event is handled by a state above', { question: 'Pay?', event: 'UP', schema: z.boolean() }, {}],
    [
      'a part of its event is handled',
      { question: 'Pay?', event: 'pay.now', schema: { type: 'boolean' } },
      { 'pay.*': 'b' },
    ],
    ['the state handles every event', { question: 'Pay?', event: 'PAY' }, { '*': 'b' }],
    ['there is none', undefined, {}],
  ])('is fine where %s', (_when, ask, on) => {
    expect(found(asking(ask, on))).toEqual([])
  })

  it.each([
    ['is no object', 'Pay?'],
    ['has no question', { event: 'UP' }],
    ['has no event', { question: 'Pay?' }],
    ['has a key that is not known', { question: 'Pay?', event: 'UP', schemas: z.boolean() }],
    ['has a schema of something else', { question: 'Pay?', event: 'UP', schema: 'boolean' }],
    ['has a schema that no answer fits', { question: 'Pay?', event: 'UP', schema: z.date() }],
    ['has a JSON Schema that is not usable', { question: 'Pay?', event: 'UP', schema: { type: 'truth' } }],
  ])('is an error where it %s', (_when, ask) => {
    expect(placesOf(asking(ask))).toEqual(['error order › a › b › meta.ask'])
  })

  it.each([
    ['no state handles its event', {}],
    ['a state below handles it', { OTHER: 'b' }],
    ['its event does nothing', { PAY: {} }],
  ])('is an error where %s', (_when, on) => {
    expect(found(asking({ question: 'Pay?', event: 'PAY' }, on))).toEqual([
      'error order › a › b › meta.ask: The answer is sent as the event "PAY", which neither this state nor one above it handles.',
    ])
  })
})

describe('Machines within a machine', () => {
  it('are inspected where they are named or invoked, each of them once', () => {
    const inner = machineOf({ id: 'payment', initial: 'waiting', states: { waiting: { entry: 'one' } } })
    const inline = machineOf({ entry: 'two' })
    const config = { initial: 'a', states: { a: { invoke: [{ src: 'payment' }, { src: inline }] } } }
    expect(placesOf(config, { actors: { payment: inner, again: inner } })).toEqual([
      'warning order › a › invoke[1]',
      'error order › actor payment › waiting › entry[0]',
      'error order › a › invoke[1] › entry[0]',
    ])
  })

  it('may contain themselves', () => {
    const actors: Record<string, unknown> = {}
    const machine = machineOf({ id: 'tree', entry: 'one', invoke: { src: 'tree' } }, { actors })
    actors['tree'] = machine
    expect(findingsOf(machine).map(({ place }) => place)).toEqual(['tree › entry[0]'])
  })
})
