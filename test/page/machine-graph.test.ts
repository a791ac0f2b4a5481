// The chart of a user's machine on the page: boxes, frames and arrows, and the arrows along which it has moved.
import { expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { placeGraph } from '../../page/src/model/graph-layout.ts'
import { machineGraphOf, presentStates, transitionText } from '../../page/src/model/machine-graph.ts'
import { chartOfDefinition } from '../../src/user-machines/definition-chart.ts'

const chart = chartOfDefinition(
  createMachine({
    id: 'order',
    initial: 'open',
    states: {
      open: { on: { PAY: [{ guard: 'rich', target: 'paid' }, { target: 'poor' }], NOTE: {} } },
      poor: { always: 'open', after: { 5000: 'gone' } },
      paid: {
        initial: 'packing',
        on: { 'refund.*': 'gone' },
        states: { packing: { on: { NEXT: 'sent' } }, sent: {}, back: { type: 'history' } },
      },
      both: { type: 'parallel', states: { left: { initial: 'a', states: { a: {} } }, right: {} } },
      gone: { type: 'final' },
    },
  }),
)

const moves = (...given: Array<[event: string, value: unknown]>) =>
  given.map(([event, value], index) => ({ event, value, at: index, seq: index + 1 }))

const begun: [string, unknown] = ['xstate.init', 'open']
const takenIn = (...given: Array<[event: string, value: unknown]>) =>
  machineGraphOf(chart, moves(begun, ...given)).edges.flatMap(({ from, to, text, steps }) =>
    steps.length === 0 ? [] : [`${from} -> ${to}: ${text}`],
  )

it('each state of a machine is a box, and one with states in it has a frame with its own box inside', () => {
  const { nodes, frames } = machineGraphOf(chart, [])
  const frameOf = Object.fromEntries(nodes.map(({ id, frame }) => [id, frame]))
  expect(frameOf).toMatchObject({
    'order.open': undefined,
    'order.paid': 'order.paid',
    'order.paid.packing': 'order.paid',
    'order.both.left.a': 'order.both.left',
  })
  expect(frames).toEqual([{ id: 'order.paid' }, { id: 'order.both' }, { id: 'order.both.left', frame: 'order.both' }])
})

it('arrows lead from a state to those with which it begins, which are all of a parallel one', () => {
  const begins = machineGraphOf(chart, []).edges.filter(({ event }) => event === 'begins')
  expect(begins.map(({ from, to }) => [from, to])).toEqual([
    ['order.paid', 'order.paid.packing'],
    ['order.both', 'order.both.left'],
    ['order.both', 'order.both.right'],
    ['order.both.left', 'order.both.left.a'],
  ])
})

it('a machine without states, and one whose root has transitions, has a box for its root', () => {
  const ids = (given: Parameters<typeof createMachine>[0]) =>
    machineGraphOf(chartOfDefinition(createMachine(given)), []).nodes.map(({ id }) => id)
  expect(ids({ id: 'one' })).toEqual(['one'])
  expect(ids({ id: 'm', initial: 'a', on: { STOP: '.b' }, states: { a: {}, b: {} } })).toEqual(['m', 'm.a', 'm.b'])
  expect(ids({ id: 'm', initial: 'a', on: { STOP: {} }, states: { a: {}, b: {} } })).toEqual(['m.a', 'm.b'])
})

it('the layout places every box inside of its frame', () => {
  const { nodes, frames, edges } = machineGraphOf(chart, [])
  const placed = placeGraph(nodes, edges, { direction: 'LR', nodeGap: 22, rankGap: 30 }, frames)
  for (const { id, frame, width, height } of nodes) {
    if (frame === undefined) continue
    const around = placed.frames.get(frame)!
    const { x, y } = placed.nodes.get(id)!
    expect(Math.abs(x - around.x) + width / 2, id).toBeLessThanOrEqual(around.width / 2)
    expect(Math.abs(y - around.y) + height / 2, id).toBeLessThanOrEqual(around.height / 2)
  }
})

it('the arrows along which a machine has moved have the numbers of the moves', () => {
  expect(takenIn(['PAY', { paid: 'packing' }], ['NEXT', { paid: 'sent' }], ['refund.all', 'gone'])).toEqual([
    'order.open -> order.paid: PAY [rich] 1',
    'order.paid -> order.gone: refund.* 3',
    'order.paid.packing -> order.paid.sent: NEXT 2',
  ])
})

it('an event that leaves the machine where it is marks no arrow', () => {
  expect(takenIn(['NOTE', 'open'])).toEqual([])
})

it('an event after which the machine passes through a state marks the arrows to it and from it', () => {
  expect(takenIn(['PAY', 'open'])).toEqual(['order.open -> order.poor: PAY 1', 'order.poor -> order.open: always 1'])
})

it('the present states are those of the value and the states above them', () => {
  expect([...presentStates(chart, { both: { left: 'a', right: {} } })]).toEqual([
    'order',
    'order.both',
    'order.both.left',
    'order.both.left.a',
    'order.both.right',
  ])
  expect([...presentStates(chart, 'renamed')]).toEqual(['order'])
})

it('transitions that no event of a user causes are named by what causes them', () => {
  const text = (event: string, more = {}) => transitionText({ event, targets: [], ...more })
  expect(text('PAY', { guard: 'rich' })).toBe('PAY [rich]')
  expect(text('xstate.after.5000.m.a', { delay: 5_000 })).toBe('after 5s')
  expect(text('xstate.after.long.m.a', { delay: 'long' })).toBe('after long')
  expect(text('xstate.done.actor.payment')).toBe('done: payment')
  expect(text('xstate.error.actor.payment')).toBe('error: payment')
  expect(text('xstate.done.state.m.a')).toBe('done')
  expect(text('')).toBe('always')
})
