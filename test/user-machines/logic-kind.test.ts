// The kinds of actor logic, of logic that XState makes, and of none that it makes.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  assign,
  createMachine,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  fromTransition,
  setup,
} from 'xstate'
import { isMachine, kindOfLogic } from '../../src/user-machines/logic-kind.ts'
import { machineOf } from '../../src/user-machines/machine-of.ts'

/** The tests import the build for development, which shares no module with this one. */
const secondCopy = fileURLToPath(new URL('../../node_modules/xstate/dist/xstate.cjs.js', import.meta.url))

const mustNotRun = (): never => {
  throw new Error('a function of the user ran')
}

it.each([
  ['machine', createMachine({})],
  ['machine', setup({ actions: { note: mustNotRun } }).createMachine({ context: mustNotRun, entry: 'note' })],
  ['machine', createMachine({ entry: assign({}) }).provide({})],
  ['promise', fromPromise(mustNotRun)],
  ['callback', fromCallback(mustNotRun)],
  ['observable', fromObservable(mustNotRun)],
  ['observable', fromEventObservable(mustNotRun)],
  ['transition', fromTransition(mustNotRun, mustNotRun)],
])('kindOfLogic finds a %s without running a function of it', (kind, logic) => {
  expect(kindOfLogic(logic)).toBe(kind)
})

it('kindOfLogic finds the kind of logic of another copy of XState', () => {
  const copy = createRequire(import.meta.url)(secondCopy) as typeof import('xstate')
  expect(copy.fromPromise).not.toBe(fromPromise)
  expect(copy.createMachine({})).not.toBeInstanceOf(createMachine({}).constructor)
  const logics = [copy.createMachine({}), copy.fromPromise(mustNotRun), copy.fromCallback(mustNotRun)]
  expect(logics.map(kindOfLogic)).toEqual(['machine', 'promise', 'callback'])
  const more = [copy.fromObservable(mustNotRun), copy.fromTransition(mustNotRun, 1)]
  expect(more.map(kindOfLogic)).toEqual(['observable', 'transition'])
})

it.each([
  [
    'a logic that was written by hand',
    { transition: (state: unknown) => state, getInitialSnapshot: () => ({}), start() {} },
  ],
  ['a logic whose snapshot is nothing', { config() {}, transition() {}, getInitialSnapshot: () => null, start() {} }],
  ['a logic that makes no snapshot', { config() {}, transition() {}, getInitialSnapshot: mustNotRun, start() {} }],
  ['a function', () => {}],
  ['null', null],
  ['nothing', undefined],
  ['a text', 'promise'],
  ['an object that pretends to be a machine', { root: {}, implementations: {} }],
])('kindOfLogic does not know %s', (_what, logic) => {
  expect(kindOfLogic(logic)).toBe('unknown')
})

it('machineOf finds a machine, and the machine of an executor that is marked with it', () => {
  const machine = createMachine({})
  const executor = Object.defineProperty(async () => {}, Symbol.for('errand.machine'), { value: machine })
  expect(isMachine(executor)).toBe(false)
  expect(machineOf(executor)).toBe(machine)
  expect(machineOf(machine)).toBe(machine)
  expect([machineOf(async () => {}), machineOf(null), machineOf('order'), machineOf({})]).toEqual(
    Array(4).fill(undefined),
  )
})
