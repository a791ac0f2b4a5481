// The layout of a timeline: lanes without overlaps, a range that contains everything, and zooming within that range.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawnBars, moved, positionOf, type Range, ticksOf, timelineOf, zoomed } from '../../page/src/model/timeline.ts'
import type { Call, RunRecord } from '../../page/src/model/wire.ts'
import { eventOf } from './page-fixtures.ts'

function callOf(given: Partial<Call> & { id: string }): Call {
  return {
    seq: 1,
    taskId: 'a',
    run: 1,
    generation: 1,
    attempt: 1,
    name: 'search',
    params: {},
    status: 'completed',
    onInterrupt: 'fail',
    details: null,
    result: null,
    error: null,
    startMessageId: null,
    resultLost: null,
    endMessageId: null,
    dueAt: null,
    createdAt: 0,
    updatedAt: 10,
    ...given,
  }
}

function runOf(given: Partial<RunRecord> & { number: number }): RunRecord {
  return {
    taskId: 'a',
    generation: 1,
    attempt: 1,
    instanceId: 'instance-1',
    status: 'closed',
    outcome: 'completed',
    error: null,
    startedAt: 0,
    endedAt: 10,
    closedAt: 10,
    dueAt: null,
    ...given,
  }
}

it('timelineOf shows the runs and rests of one generation', () => {
  const events = [
    eventOf({ seq: 1, taskId: 'a', type: 'task.waiting', at: 10, data: { status: 'waiting' } }),
    eventOf({ seq: 2, taskId: 'a', type: 'task.started', at: 40, data: { status: 'working' } }),
    eventOf({ seq: 3, taskId: 'a', type: 'task.waiting', at: 60, data: { status: 'waiting' } }),
  ]
  const later = runOf({ number: 3, generation: 2, startedAt: 40, endedAt: 60 })
  const { bars, lanes } = timelineOf({ messages: [], runs: [later], calls: [], events, now: 100 })
  expect(lanes).toEqual(['attempt 1', 'waits'])
  expect(Math.min(...bars.map(({ from }) => from))).toBe(40)
})

it('timelineOf gives each attempt a lane, followed by the rests and the calls', () => {
  const { lanes, bars, marks } = timelineOf({
    messages: [],
    now: 100,
    runs: [
      runOf({ number: 1, endedAt: 20, outcome: 'input_required' }),
      runOf({ number: 2, attempt: 2, startedAt: 50, endedAt: null, outcome: null, status: 'live' }),
    ],
    calls: [callOf({ id: 'c1', createdAt: 5, updatedAt: 15 })],
    events: [
      eventOf({ seq: 1, taskId: 'a', type: 'task.input_required', at: 20, data: { status: 'input_required' } }),
      eventOf({
        seq: 2,
        taskId: 'a',
        type: 'question.asked',
        at: 20,
        data: { status: 'input_required', question: 'Go on?' },
      }),
      eventOf({ seq: 3, taskId: 'a', type: 'task.started', at: 50, data: { status: 'working' } }),
    ],
  })
  expect(lanes).toEqual(['attempt 1', 'attempt 2', 'waits', 'calls'])
  expect(bars.map(({ id, lane, from, to }) => [id, lane, from, to])).toEqual([
    ['run-1', 0, 0, 20],
    ['run-2', 1, 50, null],
    ['rest-1', 2, 20, 50],
    ['c1', 3, 5, 15],
  ])
  expect(marks).toMatchObject([{ kind: 'question', label: 'asked: Go on?', at: 20 }])
})

const calls = fc
  .array(fc.record({ start: fc.nat(1_000), length: fc.nat(200) }), { maxLength: 30 })
  .map((spans) =>
    spans.map(({ start, length }, index) => callOf({ id: `c${index}`, createdAt: start, updatedAt: start + length })),
  )

it('timelineOf never overlaps calls of one lane, except in the last lane of too many', () => {
  fc.assert(
    fc.property(calls, (some) => {
      const { bars, lanes } = timelineOf({ messages: [], now: 5_000, runs: [], calls: some, events: [] })
      const last = lanes.length - 1
      const isFull = lanes.length === 6
      for (const a of bars) {
        for (const b of bars) {
          if (a.id === b.id || a.lane !== b.lane || (isFull && a.lane === last)) continue
          expect(a.from >= (b.to ?? 0) || b.from >= (a.to ?? 0)).toBe(true)
        }
      }
    }),
  )
})

it('the range of timelineOf contains every bar and every mark', () => {
  fc.assert(
    fc.property(calls, (some) => {
      const { bars, range } = timelineOf({ messages: [], now: 700, runs: [], calls: some, events: [] })
      for (const bar of bars) {
        expect(positionOf(bar.from, range)).toBeGreaterThanOrEqual(0)
        expect(positionOf(bar.to ?? 700, range)).toBeLessThanOrEqual(1)
      }
      expect(range.to).toBeGreaterThan(range.from)
    }),
  )
})

it('zoomed and moved stay within the whole range, and zoomed keeps the position under the pointer', () => {
  const whole: Range = { from: 1_000, to: 9_000 }
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          factor: fc.double({ min: 0.1, max: 4, noNaN: true }),
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          by: fc.double({ min: -2, max: 2, noNaN: true }),
        }),
        { maxLength: 20 },
      ),
      (steps) => {
        let range = whole
        for (const { factor, at, by } of steps) {
          range = zoomed(range, whole, factor, range.from + at * (range.to - range.from))
          range = moved(range, whole, by)
          expect(range.from).toBeGreaterThanOrEqual(whole.from - 1e-6)
          expect(range.to).toBeLessThanOrEqual(whole.to + 1e-6)
          expect(range.to - range.from).toBeGreaterThan(0)
        }
      },
    ),
  )
  const closer = zoomed(whole, whole, 0.5, 5_000)
  expect(positionOf(5_000, closer)).toBeCloseTo(positionOf(5_000, whole))
})

it('ticksOf returns round times, at most as many as fit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 2, max: 12 }), (size, most) => {
      const ticks = ticksOf({ from: 500, to: 500 + size }, 500, most)
      expect(ticks.length).toBeLessThanOrEqual(most + 1)
      expect(ticks[0]).toBe(500)
    }),
  )
})

it('drawnBars returns runs, rests and the longest calls of too many bars, and the number of those left out', () => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    callOf({ id: `c${index}`, createdAt: index, updatedAt: index + 1 + (index % 10) }),
  )
  const { bars, range } = timelineOf({
    messages: [],
    now: 2_000,
    runs: [runOf({ number: 1, endedAt: 1_000 })],
    calls: many,
    events: [],
  })
  const { drawn, left } = drawnBars(bars, range, 2_000, 100)
  expect([drawn.length, left]).toEqual([100, 901])
  expect(drawn[0]?.kind).toBe('run')
  expect(Math.min(...drawn.slice(1).map(({ from, to }) => (to ?? 0) - from))).toBeGreaterThanOrEqual(10)
})
