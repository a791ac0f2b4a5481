// The smaller parts of the page's model: conversations, throttling, throughput, changes, addresses, formats, idempotency keys.

import { expect, it } from 'vitest'
import { idempotencyKeys } from '../../page/src/live/idempotency-keys.ts'
import { changesBetween } from '../../page/src/model/changes.ts'
import { conversationLines, LiveText } from '../../page/src/model/conversation.ts'
import { age, counted, duration, sinceStart } from '../../page/src/model/format.ts'
import { placeGraph } from '../../page/src/model/graph-layout.ts'
import { isQueued, wordOf } from '../../page/src/model/lifecycle.ts'
import { linkTo, routeOf } from '../../page/src/model/route.ts'
import { stateGraphOf, stepNumbers } from '../../page/src/model/state-graph.ts'
import { atMostEvery, sparingly } from '../../page/src/model/throttle.ts'
import { perSecond, Throughput } from '../../page/src/model/throughput.ts'
import type { Call, MachineConfig, Message, TaskRow } from '../../page/src/model/wire.ts'
import { machines } from '../../src/engine/machine-charts.ts'
import { rowOf } from './page-fixtures.ts'

const message = (id: string, timestamp: number, more: Partial<Message> = {}): Message => ({
  id,
  taskId: 'a',
  role: 'assistant',
  content: id,
  timestamp,
  announcement: false,
  ...more,
})
const call = (id: string, createdAt: number, more: Partial<Call> = {}) =>
  ({ id, seq: createdAt, name: id, createdAt, startMessageId: null, endMessageId: null, ...more }) as Call

it('isQueued depends on the readiness and the executor of a task, not on its state', () => {
  expect(isQueued({ ready: true, executor: 'shell' })).toBe(true)
  expect(isQueued({ ready: false, executor: 'shell' })).toBe(false)
  expect(isQueued({ ready: true, executor: null })).toBe(false)
})

const content = (text: string, offset: number, messageId = 'm1') =>
  ({ type: 'content', taskId: 'a', seq: 1, content: text, offset, messageId }) as const

it('a row has one word for its state: that of the ledger, or blocked, queued, claimable or interrupted', () => {
  const word = (given: Partial<TaskRow>) => wordOf(rowOf({ id: 'a', ...given }))
  expect(word({ executor: 'work', openBlockers: 1 })).toBe('blocked')
  expect(word({ executor: 'work', ready: true })).toBe('queued')
  expect(word({ executor: 'work', ready: true, status: 'paused' })).toBe('queued')
  expect(word({ ready: true })).toBe('claimable')
  expect(word({ executor: 'work', held: true })).toBe('submitted')
  expect(word({ executor: 'work', openBlockers: 1, status: 'waiting' })).toBe('waiting')
  expect(word({ executor: 'work', status: 'working' })).toBe('working')
  expect(word({ executor: 'work', status: 'working', statusReason: 'interrupted' })).toBe('interrupted')
  // Another engine has taken it over.
  expect(word({ executor: 'work', status: 'waiting', statusReason: 'interrupted', ready: true })).toBe('queued')
})

it('conversationLines shows a call instead of the message about its start, and omits the message about its end', () => {
  const messages = [
    message('hello', 1, { role: 'user' }),
    message('start', 2, { announcement: true }),
    message('end', 3, { announcement: true }),
    message('notice', 4, { announcement: true }),
  ]
  const lines = conversationLines(messages, [call('c', 2, { startMessageId: 'start', endMessageId: 'end' })], new Map())
  expect(lines.map(({ id }) => id)).toEqual(['hello', 'calls-c', 'notice'])
})

it('conversationLines places calls without a message by their time, adjacent ones in one block', () => {
  const lines = conversationLines(
    [message('m1', 5), message('m2', 20)],
    [call('c2', 11), call('c1', 10), call('c3', 30)],
    new Map(),
  )
  expect(lines.map((line) => (line.kind === 'calls' ? line.calls.map(({ id }) => id) : line.id))).toEqual([
    'm1',
    ['c1', 'c2'],
    'm2',
    ['c3'],
  ])
})

it('an unfinished message is the last line of a conversation until it is stored', () => {
  const live = new LiveText()
  live.apply(content('Hel', 0))
  live.apply(content('lo', 3))
  expect(conversationLines([], [], live.texts)).toMatchObject([{ kind: 'live', text: 'Hello', gap: false }])
  expect(conversationLines([message('m1', 1)], [], live.texts)).toHaveLength(1)
  live.apply({
    type: 'message',
    taskId: 'a',
    seq: 2,
    messageId: 'm1',
    role: 'assistant',
    content: 'Hello',
    announcement: false,
  })
  expect(live.texts.size).toBe(0)
})

it('LiveText marks a missing chunk, and a repeated chunk replaces the text after it', () => {
  const live = new LiveText()
  live.apply(content('Hello', 0))
  live.apply(content('p!', 3))
  expect(live.texts.get('m1')).toEqual({ text: 'Help!', gap: false })
  live.apply(content('more', 20))
  expect(live.texts.get('m1')?.gap).toBe(true)
})

/** Frames and timers that the test triggers. */
function manualClock() {
  let now = 0
  const frames: Array<() => void> = []
  const timers: Array<{ at: number; callback: () => void }> = []
  return {
    clock: {
      now: () => now,
      frame: (callback: () => void) => frames.push(callback),
      later: (callback: () => void, ms: number) => timers.push({ at: now + ms, callback }),
    },
    frame: () => {
      for (const callback of frames.splice(0)) callback()
    },
    pass: (ms: number) => {
      now += ms
      const due = timers.filter(({ at }) => at <= now)
      for (const timer of due) timers.splice(timers.indexOf(timer), 1)
      for (const { callback } of due) callback()
    },
  }
}

it('sparingly limits work that takes long to its share of the time', () => {
  const { clock, frame, pass } = manualClock()
  let done = 0
  const ask = sparingly(clock, { restMs: 100, share: 0.1 }, () => {
    done++
    pass(30)
  })
  const began = clock.now()
  for (let turn = 0; turn < 300; turn++) {
    ask()
    frame()
    pass(10)
  }
  const most = ((clock.now() - began) * 0.1) / 30
  expect(done).toBeGreaterThan(most - 2)
  // Its duration is not known before the first time.
  expect(done).toBeLessThan(most + 2)
})

it('atMostEvery runs at once, then once per interval, and never loses the last request', () => {
  const { clock, frame, pass } = manualClock()
  let done = 0
  const ask = atMostEvery(clock, 150, () => done++)
  ask()
  frame()
  expect(done).toBe(1)
  for (let ms = 0; ms < 1_500; ms += 10) {
    pass(10)
    ask()
    frame()
  }
  expect(done).toBeLessThanOrEqual(11)
  const before = done
  ask()
  pass(150)
  frame()
  expect(done).toBe(before + 1)
})

it('Throughput counts events and completed tasks per second, and drops counts before the window', () => {
  const throughput = new Throughput()
  for (let second = 0; second < 400; second++) {
    throughput.add({ at: second * 1_000, type: 'task.updated' })
    throughput.add({ at: second * 1_000 + 1, type: 'task.completed' })
  }
  const { seconds, events, completed } = throughput.rates(399_500)
  expect([seconds.length, seconds[0], seconds.at(-1)]).toEqual([300, 100, 399])
  expect(events.every((count) => count === 2)).toBe(true)
  expect(completed.every((count) => count === 1)).toBe(true)
  expect(perSecond(events)).toBe(2)
  expect(throughput.rates(1_000_000).events.every((count) => count === 0)).toBe(true)
})

it('changesBetween lists the fields that differ, except those that change with every write', () => {
  const before = { priority: 1, version: 1, updatedAt: 1, input: { a: 1 }, name: 'x' }
  expect(changesBetween(before, { ...before, priority: 2, version: 2, updatedAt: 2 })).toEqual([
    { field: 'priority', before: '1', after: '2' },
  ])
})

it('routeOf reads the links of linkTo; an invalid link leads to the overview or to a task that is not found', () => {
  for (const route of [
    { view: 'task', id: 'task-ü/1' },
    { view: 'new', parentId: null },
    { view: 'new', parentId: 'task-1' },
    { view: 'schedules' },
    { view: 'engines' },
    { view: 'charts' },
    { view: 'overview', query: '' },
    { view: 'overview', query: 'status=failed&text=a%2Fb+c' },
  ] as const) {
    expect(routeOf(linkTo(route))).toEqual(route)
  }
  expect(routeOf('#/nonsense')).toEqual({ view: 'overview', query: '' })
  expect(routeOf('#/task/%E0%A4%A')).toEqual({ view: 'task', id: '%E0%A4%A' })
})

it('duration, age and sinceStart return short texts', () => {
  expect([duration(0), duration(999), duration(61_000), duration(90_061_000)]).toEqual([
    '0ms',
    '999ms',
    '1m 1s',
    '1d 1h',
  ])
  expect([age(500), age(61_000)]).toEqual(['now', '1m'])
  expect([sinceStart(0, 500), sinceStart(1_500, 500), sinceStart(1_050, 50), sinceStart(90_000, 30_000)]).toEqual([
    '0',
    '+1.5s',
    '+1.05s',
    '+1m 30s',
  ])
  expect([counted(1, 'run'), counted(2, 'run')]).toEqual(['1 run', '2 runs'])
})

it('idempotencyKeys returns the same key for equal content, and a new key for other content', () => {
  let count = 0
  const keyOf = idempotencyKeys((bytes) => bytes.fill(++count))
  expect(keyOf({ name: 'a' })).toBe(keyOf({ name: 'a' }))
  expect(keyOf({ name: 'b' })).not.toBe('01'.repeat(16))
})

const config = machines.task.config as unknown as MachineConfig

it('stateGraphOf contains every state and every edge of the machine, and each gets a position of its own', () => {
  const { nodes, edges } = stateGraphOf(config, [])
  expect([nodes.length, edges.length]).toEqual([8, 15])
  const placed = placeGraph(nodes, edges, { direction: 'LR', nodeGap: 20, rankGap: 30 })
  expect(new Set([...placed.nodes.values()].map(({ x, y }) => `${x},${y}`)).size).toBe(8)
  for (const { id } of edges) expect(placed.edges.get(id)?.points.length).toBeGreaterThan(1)
})

it('stateGraphOf lists the steps of the task along each edge', () => {
  const step = (n: number) => ({ n, from: 'submitted', to: 'working', event: 'start', at: n, seq: n }) as const
  const { edges } = stateGraphOf(config, [step(1), step(4)])
  expect(edges.find(({ id }) => id === 'submitted.start')?.text).toBe('start 1, 4')
  expect(stepNumbers([1, 2, 3, 4, 5].map(step))).toBe('1, 2, 3 +2')
})
