// The places by which inline actions are found again.

import { expect, it } from 'vitest'
import { and, assign, createMachine, fromPromise, log, raise } from 'xstate'
import { inlineActions } from '../../src/user-machines/inline-actions.ts'

/** A function that differs from all others. */
const action = () => () => {}

it('inlineActions names each function by the id of its state and its place in it', () => {
  const machine = createMachine({
    id: 'order',
    initial: 'waiting',
    entry: action(),
    states: {
      waiting: {
        entry: ['named', action(), assign({}), action()],
        exit: [action()],
        after: { 1000: { target: 'paid', actions: action() } },
        on: {
          PAY: [{ guard: and([]), actions: [log('x'), action()] }, { actions: action() }],
          'x.*': { actions: action() },
        },
      },
      paid: {
        id: 'settled',
        initial: { target: 'sending', actions: action() },
        states: {
          sending: {
            invoke: {
              id: 'send',
              src: fromPromise(async () => 1),
              onDone: { actions: action() },
              onError: { actions: action() },
            },
            always: { actions: [raise({ type: 'X' }), action()] },
          },
        },
        onDone: { actions: action() },
      },
    },
  })
  expect([...inlineActions(machine).values()]).toEqual([
    'order:entry[0]',
    'order.waiting:entry[1]',
    'order.waiting:entry[3]',
    'order.waiting:exit[0]',
    'order.waiting:PAY[0].actions[1]',
    'order.waiting:PAY[1].actions[0]',
    'order.waiting:x.*[0].actions[0]',
    'order.waiting:xstate.after.1000.order.waiting[0].actions[0]',
    'settled:initial.actions[0]',
    'settled:xstate.done.state.settled[0].actions[0]',
    'order.paid.sending:xstate.done.actor.send[0].actions[0]',
    'order.paid.sending:xstate.error.actor.send[0].actions[0]',
    'order.paid.sending:xstate.always[0].actions[1]',
  ])
})

it('inlineActions gives a function with several places its first one, and the same one in every copy of the machine', () => {
  const note = action()
  const machine = createMachine({ id: 'm', entry: note, exit: note, on: { always: { actions: note } } })
  expect([...inlineActions(machine)]).toEqual([[note, 'm:entry[0]']])
  expect(inlineActions(machine.provide({})).get(note)).toBe('m:entry[0]')
})

it('inlineActions does not mistake an event for a part of its state', () => {
  const machine = createMachine({
    id: 'm',
    always: { guard: () => false, actions: action() },
    on: { always: { actions: action() }, entry: { actions: action() }, initial: { actions: action() } },
    entry: action(),
  })
  expect(new Set(inlineActions(machine).values()).size).toBe(5)
})

it('XState performs the functions that inlineActions names', async () => {
  const { initialTransition } = await import('xstate')
  const machine = createMachine({ id: 'm', initial: 'a', states: { a: { entry: [action(), assign({})] } } })
  const names = inlineActions(machine)
  const performed = initialTransition(machine)[1].map(({ exec }) => names.get(exec as () => void))
  expect(performed).toEqual(['m.a:entry[0]'])
})
