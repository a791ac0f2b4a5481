// The relay over real sockets: Stately's own receiver and inspector as clients, unauthorized clients, and receivers that are slow, late or
// disconnected.
import { request } from 'node:http'
import { createWebSocketInspector } from '@statelyai/inspect'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createActor, createMachine } from 'xstate'
import type { InspectionEvent, InspectionObserver } from '../../../src/actors/inspection-event.ts'
import { untilAborted } from '../../../src/core/signals.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { serveInspector } from '../../../src/surfaces/inspector/serve-inspector.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { openEngine, puppet, reached, refusalOf } from '../../engine/world.ts'
import { isActor, receive, receiveUntilClosed, statesOf } from './receiver.ts'

type Options = Parameters<typeof serveInspector>[1]

async function relay(engine: Parameters<typeof serveInspector>[0], options?: Options) {
  const server = await serveInspector(engine, options)
  onTestFinished(() => server.close())
  return server
}

/** An engine that counts its observers, and emits the events of the test. */
function fakeEngine() {
  const observers = new Set<InspectionObserver>()
  return {
    observers,
    inspect(observer: InspectionObserver) {
      observers.add(observer)
      return () => void observers.delete(observer)
    },
    emit(event: InspectionEvent) {
      for (const observer of observers) (observer as (event: InspectionEvent) => void)(event)
    },
  }
}

const anActor = { id: 'a', sessionId: 'x:1', getSnapshot: () => ({ status: 'active' }), system: { getAll: () => ({}) } }
const anEvent = (type: string): InspectionEvent => ({
  type: '@xstate.event',
  rootId: 'x:0',
  actorRef: anActor,
  event: { type },
})

const closed = (socket: WebSocket): Promise<number> => new Promise((resolve) => socket.once('close', resolve))
const opened = (socket: WebSocket): Promise<void> => new Promise((resolve) => socket.once('open', () => resolve()))

it("X-002 a receiver sees a task's whole life: supervisor, task and run as actors, with their events, states and parents", async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const receiver = receive((await relay(engine)).url)
  const supervisor = await receiver.until(isActor('supervisor'))
  const task = await engine.create({ executor: 'work', name: 'a' })
  await hands.started(0)
  const actor = await receiver.until(isActor(task.id))
  const run = await receiver.until(isActor(`run:${task.id}#1`))
  expect(actor).toMatchObject({
    parentId: supervisor.sessionId,
    rootId: supervisor.sessionId,
    snapshot: { status: 'active', value: 'working', context: { taskId: task.id, name: 'a', attempt: 1, run: 1 } },
  })
  expect(JSON.parse(actor.definition!)).toMatchObject({
    id: 'task',
    states: { working: { on: { ask: { target: 'input_required' } } } },
  })
  expect(JSON.parse(run.definition!)).toMatchObject({ id: 'run', initial: 'live' })
  hands.runs[0]?.end.resolve(null)
  await receiver.until(({ sessionId, snapshot }) => sessionId === run.sessionId && snapshot?.value === 'closed')
  expect(statesOf(receiver, actor)).toEqual(['submitted', 'working', 'completed'])
  expect(statesOf(receiver, run)).toEqual(['live', 'ending', 'closed'])
  const events = receiver.messages.filter(
    ({ type, sessionId }) => type === '@xstate.event' && sessionId === actor.sessionId,
  )
  expect(events.map(({ event }) => event?.type)).toEqual(['xstate.init', 'start', 'complete'])
})

it('X-001 X-002 a receiver of all tasks sees exactly one actor for each task of a family, with every state that it was in, and its runs as its children', async () => {
  const engine = await openEngine({
    executors: {
      parent: async (_task: ExecutorTask, run: Run) => {
        await run.wait(await run.spawn({ executor: 'flaky', name: 'flaky', retry: { maxAttempts: 2 } }))
        await run.ask('Go on?', null, { key: 'go on' })
        await run.sleep(500)
      },
      flaky: (_task: ExecutorTask, run: Run) => {
        if (run.attempt === 1) throw new Error('once')
      },
      endless: (_task: ExecutorTask, run: Run) => untilAborted(new Promise(() => {}), run.signal),
    },
  })
  const receiver = receive((await relay(engine, { tasks: 'all' })).url)
  await receiver.until(isActor('supervisor'))
  const parent = await engine.create({ executor: 'parent', name: 'parent' })
  const endless = await engine.create({ executor: 'endless', name: 'endless' })
  await reached(engine, parent, 'input_required')
  await engine.answer(parent, 'yes')
  await engine.settled(parent)
  await reached(engine, endless, 'working')
  await engine.cancel(endless)
  const [flaky] = await engine.children(parent)
  await receiver.until(({ snapshot }) => snapshot?.value === 'canceled')
  const seen = (id: string) => {
    const actors = receiver.messages.filter((message) => message.type === '@xstate.actor' && message.name === id)
    expect(actors).toHaveLength(1)
    const [actor] = actors as [(typeof actors)[number] & { sessionId: string }]
    const runs = receiver.messages.filter(
      ({ type, parentId }) => type === '@xstate.actor' && parentId === actor.sessionId,
    )
    return { states: statesOf(receiver, actor), runs: runs.map(({ name }) => name) }
  }
  expect(seen(parent.id).states).toEqual([
    'submitted',
    'working',
    'waiting',
    'working',
    'input_required',
    'working',
    'waiting',
    'working',
    'completed',
  ])
  expect(seen(parent.id).runs).toEqual([1, 2, 3, 4].map((run) => `run:${parent.id}#${run}`))
  const flakyStates = ['submitted', 'working', 'failed', 'submitted', 'working', 'completed']
  expect(seen(flaky!.id)).toEqual({ states: flakyStates, runs: [1, 2].map((run) => `run:${flaky!.id}#${run}`) })
  expect(seen(endless.id).states).toEqual(['submitted', 'working', 'canceled'])
})

it('X-001 a receiver of all tasks sees one actor for a task that fails for good and is retried by hand, in each of its states', async () => {
  let fails = true
  const engine = await openEngine({
    executors: {
      work: () => {
        if (fails) throw new Error('broken')
      },
    },
  })
  const receiver = receive((await relay(engine, { tasks: 'all' })).url)
  await receiver.until(isActor('supervisor'))
  const group = await engine.create({ name: 'group', tasks: { work: { executor: 'work', name: 'work' } } })
  const [task] = await engine.children(group)
  await reached(engine, group, 'failed')
  fails = false
  await engine.retry(group)
  await reached(engine, group, 'completed')
  await receiver.until(
    ({ snapshot }) => snapshot?.value === 'completed' && (snapshot.context as { taskId: string }).taskId === group.id,
  )
  for (const { id } of [group, task!]) {
    const actors = receiver.messages.filter((message) => message.type === '@xstate.actor' && message.name === id)
    expect(actors).toHaveLength(1)
    const states = ['submitted', 'working', 'failed', 'submitted', 'working', 'completed']
    expect(statesOf(receiver, actors[0] as never)).toEqual(states)
  }
})

it('a receiver that connects later gets the actors in their current states, and the last messages', async () => {
  const engine = await openEngine()
  const { url } = await relay(engine, { tasks: 'all', historySize: 3 })
  const first = receive(url)
  const task = await engine.create({ name: 'to claim' })
  await engine.claim(task, { owner: 'ann' })
  await first.until(
    ({ snapshot, sessionId }) => snapshot?.value === 'working' && sessionId !== first.messages[0]?.sessionId,
  )
  const second = receive(url)
  const actor = await second.until(isActor(task.id))
  expect(actor).toMatchObject({ snapshot: { value: 'working', context: { name: 'to claim' } } })
  await engine.complete(task, null, { owner: 'ann' })
  const done = (message: { snapshot?: { value?: unknown } }) => message.snapshot?.value === 'completed'
  await Promise.all([first.until(done), second.until(done)])
  expect(second.messages.filter(({ type }) => type === '@xstate.actor')).toHaveLength(2)
  const doneIndex = second.messages.findIndex(done)
  expect(second.messages.slice(doneIndex - 2, doneIndex)).toEqual(
    first.messages.slice(first.messages.findIndex(done) - 2).slice(0, 2),
  )
})

it('the first receiver attaches the inspector to the engine, and the last one detaches it', async () => {
  const engine = fakeEngine()
  const { url } = await relay(engine as never)
  expect(engine.observers.size).toBe(0)
  const [first, second] = [receiveUntilClosed(url), receiveUntilClosed(url)]
  await Promise.all([opened(first.socket), opened(second.socket)])
  expect(engine.observers.size).toBe(1)
  first.socket.close()
  await closed(first.socket)
  expect(engine.observers.size).toBe(1)
  second.socket.close()
  await closed(second.socket)
  await vi.waitFor(() => expect(engine.observers.size).toBe(0))
})

it('a receiver that does not read is disconnected, and another one receives everything', async () => {
  const engine = fakeEngine()
  const { url } = await relay(engine as never)
  const slow = receiveUntilClosed(url)
  const quick = receiveUntilClosed(url)
  await Promise.all([opened(slow.socket), opened(quick.socket)])
  slow.socket.pause()
  const closing = closed(slow.socket)
  const filling = 'x'.repeat(8_000)
  let sent = 0
  // More than the kernel buffers for the socket of a receiver that does not read.
  for (; sent < 4_000; sent++) {
    engine.emit(anEvent(`${sent} ${filling}`))
    // A receiver that reads is disconnected too when it falls this far behind.
    if (sent % 100 === 0) await quick.until(() => quick.messages.length > sent)
  }
  await quick.until(() => quick.messages.length === sent)
  const [first, last] = [quick.messages[0], quick.messages.at(-1)].map((message) => message?.event?.type.split(' ')[0])
  expect([first, last]).toEqual(['0', `${sent - 1}`])
  slow.socket.resume()
  expect(await closing).toBe(1006)
  expect(slow.messages.length).toBeLessThan(sent)
})

it('a receiver that answers no ping is disconnected', async () => {
  const timers: Array<() => void> = []
  const clock = { now: () => 0, setTimeout: (fn: () => void) => timers.push(fn), clearTimeout: () => {} }
  const { url } = await relay(null, { clock })
  const deaf = new WebSocket(url, { autoPong: false })
  await opened(deaf)
  timers.shift()?.()
  timers.shift()?.()
  expect(await closed(deaf)).toBe(1006)
})

it('a receiver of a closed engine is notified that it is closed', async () => {
  const engine = await openEngine()
  const { url } = await relay(engine)
  await engine.close()
  expect(await closed(receiveUntilClosed(url).socket)).toBe(1011)
})

const machine = createMachine({
  id: 'other',
  context: { apiToken: 'hidden in the context', step: 1 },
  initial: 'one',
  states: { one: { on: { next: 'two' } }, two: {} },
})

it('another program is shown to receivers through its own inspector, redacted, under its own names', async () => {
  const { url } = await relay(await openEngine())
  const receiver = receive(url)
  const supervisor = await receiver.until(isActor('supervisor'))
  const inspector = createWebSocketInspector({ url })
  onTestFinished(() => inspector.stop())
  const actor = createActor(machine, { id: 'mine', inspect: inspector.inspect }).start()
  const seen = await receiver.until(isActor('mine'))
  expect(seen.sessionId).not.toBe(supervisor.sessionId)
  expect(seen).toMatchObject({ sessionId: `program-1/${actor.sessionId}`, snapshot: { context: { step: 1 } } })
  actor.send({ type: 'next', password: 'hidden in the event' } as never)
  await receiver.until(({ sessionId, snapshot }) => sessionId === seen.sessionId && snapshot?.value === 'two')
  const text = JSON.stringify(receiver.messages)
  expect(text).not.toContain('hidden')
  expect(text).toContain('[redacted]')
})

it('another program needs no engine, and is relayed to later receivers', async () => {
  const { url } = await relay(null)
  const inspector = createWebSocketInspector({ url })
  onTestFinished(() => inspector.stop())
  const actor = createActor(machine, { id: 'mine', inspect: inspector.inspect }).start()
  const early = receive(url)
  await early.until(isActor('mine'))
  actor.send({ type: 'next' })
  await early.until(({ snapshot }) => snapshot?.value === 'two')
  const late = receive(url)
  expect(await late.until(isActor('mine'))).toMatchObject({ snapshot: { value: 'two' } })
})

it.each([
  ['invalid JSON', 'hello'],
  ['another kind of message', JSON.stringify({ type: '@xstate.nothing' })],
  ['an actor without a name', JSON.stringify({ type: '@xstate.actor', sessionId: 'x:1', createdAt: '1' })],
  ['bytes', Buffer.from([1, 2, 3])],
])('another program that sends %s is disconnected and not relayed', async (_what, sent) => {
  const { url } = await relay(null)
  const receiver = receiveUntilClosed(url)
  await opened(receiver.socket)
  const program = new WebSocket(url)
  await opened(program)
  program.send(sent)
  expect(await closed(program)).toBe(1008)
  expect(receiver.messages).toEqual([])
})

it('another program that sends more than 256 KiB at once is disconnected', async () => {
  const { url } = await relay(null)
  const program = new WebSocket(url)
  await opened(program)
  program.on('error', () => {})
  program.send('x'.repeat(256 * 1024 + 1))
  expect(await closed(program)).toBe(1009)
})

const refusedWith = (url: string, options: object = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, options)
    socket.on('error', () => {})
    socket.on('open', () => reject(new Error('It was let in.')))
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      socket.terminate()
    })
  })

it('the request guard of the inspector refuses connections without the token, from a foreign page, or under a foreign Host', async () => {
  const { url, token } = await relay(null, { allowedOrigins: ['http://127.0.0.1:1'] })
  const bare = url.replace(/\?.*/, '')
  expect(await refusedWith(bare)).toBe(401)
  expect(await refusedWith(`${bare}?token=${token}x`)).toBe(401)
  expect(await refusedWith(bare, { headers: { authorization: 'Bearer nothing' } })).toBe(401)
  expect(await refusedWith(url, { origin: 'https://evil.example' })).toBe(403)
  expect(await refusedWith(url, { headers: { host: 'evil.example' } })).toBe(403)
  await opened(new WebSocket(bare, { headers: { authorization: `Bearer ${token}` } }))
  await opened(new WebSocket(url, { origin: 'http://127.0.0.1:1' }))
})

it('V-09 the request guard of the inspector answers a client that guesses tokens with 429, and accepts the valid token', async () => {
  const { url } = await relay(null, { clock: new SimulatedClock() })
  const wrong = `${url}x`
  for (let count = 0; count < 20; count++) expect(await refusedWith(wrong)).toBe(401)
  expect(await refusedWith(wrong)).toBe(429)
  await opened(new WebSocket(url))
})

it('the inspector answers a request that is no WebSocket upgrade with 426', async () => {
  const { url } = await relay(null)
  const status = await new Promise((resolve) => {
    request(url.replace('ws:', 'http:'), ({ statusCode }) => resolve(statusCode)).end()
  })
  expect(status).toBe(426)
})

it('the inspector accepts at most 64 connections', async () => {
  const { url } = await relay(null)
  const sockets = Array.from({ length: 64 }, () => new WebSocket(url))
  await Promise.all(sockets.map(opened))
  expect(await refusedWith(url)).toBe(503)
})

it('the inspector uses the configured token, and generates a long one by default', async () => {
  const given = 'a-token-of-our-own'
  expect((await relay(null, { token: given })).url).toMatch(new RegExp(`^ws://127\\.0\\.0\\.1:\\d+/\\?token=${given}$`))
  expect((await relay(null)).token).toMatch(/^[a-z2-7]{52}$/)
})

it('the inspector refuses an address that other machines can reach, and unknown options', async () => {
  await refusalOf(serveInspector(null, { host: '0.0.0.0' }), 'FORBIDDEN')
  await refusalOf(serveInspector(null, { token: 'short' }), 'INVALID_INPUT')
  await refusalOf(serveInspector(null, { histroySize: 1 } as never), 'UNKNOWN_OPTION')
  await refusalOf(serveInspector(null, { redact: 'password' } as never), 'INVALID_INPUT')
})
