// Streams as server-sent events: their contents, their positions, and that they release what they hold.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { untilAborted } from '../../../src/core/signals.ts'
import { defineExecutor } from '../../../src/index.ts'
import { streamResponse, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { eventsOf, openWorld, problemIn, requestOf, token, type World } from './world.ts'

const talk = defineExecutor({
  run: async (_task, run) => {
    await run.message('assistant', 'hello')
    await run.progress(0.5)
    return 1
  },
})
const breaks = defineExecutor({
  run: () => {
    throw new Error('it broke')
  },
})

async function follow({ http }: World, path: string, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const response = await http(requestOf('GET', path, undefined, headers, signal))
  expect(response.status).toBe(200)
  return eventsOf(response)
}

/** A stream ability whose items and end the test controls. */
function handHeld({ engine }: World) {
  const held = { opened: 0, closed: 0, asked: 0 }
  let supply: Array<PromiseWithResolvers<unknown>> = []
  const slot = (index: number) => (supply[index] ??= Promise.withResolvers<unknown>())
  engine.bus.register({
    id: 'held:stream',
    description: 'Gives what the test gives it.',
    input: z.object({}),
    output: z.object({ n: z.number() }),
    async *stream(_input, { signal }) {
      held.opened += 1
      supply = []
      try {
        for (let index = 0; ; index++) {
          held.asked += 1
          yield (await untilAborted(slot(index).promise, signal)) as { n: number }
        }
      } finally {
        held.closed += 1
      }
    },
  })
  const give = (index: number, n: number) => slot(index).resolve({ n })
  const fail = (index: number, error: unknown) => slot(index).reject(error)
  return { held, give, fail }
}

/** Runs everything that is ready. */
async function settle() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it.each(['/stream/ID', '/tasks/ID/stream'])(
  'X-030 S1-012 GET %s streams a task from its start to its one end',
  async (path) => {
    const world = await openWorld({}, { executors: { talk } })
    const { id } = await world.engine.create({ executor: 'talk' })
    const events = await (await follow(world, path.replace('ID', id))).rest()
    expect(events.map(({ event }) => event)).toEqual(['start', 'state', 'message', 'progress', 'state', 'end'])
    expect(events.at(2)?.data).toMatchObject({ type: 'message', taskId: id, role: 'assistant', content: 'hello' })
    const seq = events.at(4)?.data.seq
    expect(events.at(5)).toEqual({
      id: `${seq}`,
      event: 'end',
      data: { type: 'end', taskId: id, seq, status: 'completed' },
    })
  },
)

it('the SSE stream of a task has headers that keep proxies from buffering it', async () => {
  const { http, engine } = await openWorld({}, { executors: { talk } })
  const { id } = await engine.create({ executor: 'talk' })
  const response = await http(requestOf('GET', `/tasks/${id}/stream`))
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(await response.text()).toMatch(/^retry: 1000\n\n/)
})

it('the SSE stream of a task continues after a disconnection at any point without repeated or missing items', async () => {
  for (const path of ['/tasks/ID/stream', '/stream/ID']) {
    for (const executor of ['talk', 'breaks']) {
      const world = await openWorld({}, { executors: { talk, breaks } })
      const { id } = await world.engine.create({ executor })
      await world.engine.settled(id)
      const whole = await (await follow(world, path.replace('ID', id))).rest()
      expect(whole.at(-1)?.event).toBe('end')
      for (const [index, { id: lastId }] of whole.entries()) {
        if (lastId === undefined || index === whole.length - 1) continue
        const stream = await follow(world, path.replace('ID', id), { 'last-event-id': lastId })
        expect(await stream.rest()).toEqual(whole.slice(index + 1))
      }
    }
  }
})

it('the SSE stream of a task is answered with 204 after the client has received its end, so that browsers stop reconnecting', async () => {
  for (const path of ['/tasks/ID/stream', '/stream/ID']) {
    for (const executor of ['talk', 'breaks']) {
      const world = await openWorld({}, { executors: { talk, breaks } })
      const { id } = await world.engine.create({ executor })
      await world.engine.settled(id)
      const whole = await (await follow(world, path.replace('ID', id))).rest()
      const lastId = whole.at(-1)?.id as string
      expect((await world.ask('GET', path.replace('ID', id), undefined, { 'last-event-id': lastId })).status).toBe(204)
    }
  }
})

it('the SSE stream of a task names a failure that will be retried otherwise than `error`, which browsers take for a broken connection', async () => {
  const world = await openWorld({}, { executors: { breaks } })
  const { id } = await world.engine.create({ executor: 'breaks', retry: { maxAttempts: 2, backoffMs: 1 } })
  await world.engine.settled(id)
  const events = await (await follow(world, `/tasks/${id}/stream`)).rest()
  const failures = events.filter(({ data }) => data.type === 'error')
  expect(failures.map(({ event, data }) => [event, data['willRetry']])).toEqual([
    ['attempt_failed', true],
    ['error', false],
  ])
})

it('streamResponse answers a route of the program with the same events, 204 after the end, and 404 for an unknown task', async () => {
  const world = await openWorld({}, { executors: { talk } })
  const { id } = await world.engine.create({ executor: 'talk' })
  const ask = (task: string | { id: string }, headers: Record<string, string> = {}) =>
    streamResponse(world.engine, task, new Request('http://localhost/orders/1/events', { headers }))
  const events = await eventsOf(await ask({ id })).rest()
  expect(events).toEqual(await (await follow(world, `/tasks/${id}/stream`)).rest())
  const [, second] = events
  expect(await eventsOf(await ask(id, { 'last-event-id': second?.id as string })).rest()).toEqual(events.slice(2))
  expect((await ask(id, { 'last-event-id': events.at(-1)?.id as string })).status).toBe(204)
  expect((await ask('missing')).status).toBe(404)
  expect((await ask(id, { 'last-event-id': 'x' })).status).toBe(400)
})

it('the SSE stream of a task is refused for an unknown task, an invalid position and a missing scope with a status, not with an event', async () => {
  const world = await openWorld()
  expect(problemIn(await world.ask('GET', '/stream/missing')).status).toBe(404)
  expect(problemIn(await world.ask('GET', '/stream/missing?after=x')).status).toBe(400)
  expect(problemIn(await world.ask('GET', '/events', undefined, { 'last-event-id': 'x' })).status).toBe(400)
  const narrow = await openWorld({ authenticate: () => ({ scopes: ['create'] }) })
  expect(problemIn(await narrow.ask('GET', '/events')).status).toBe(403)
  expect(problemIn(await narrow.ask('GET', '/events', undefined, { authorization: '' })).status).toBe(403)
})

it('a position that the ledger has not reached is refused with 409 by every stream and list of events, and the last one is not', async () => {
  const world = await openWorld()
  const { id } = await world.engine.create({ name: 'a' })
  const asked = [
    ['/events?after=2', {}],
    ['/events', { 'last-event-id': '2' }],
    [`/tasks/${id}/stream?after=2`, {}],
    [`/tasks/${id}/stream`, { 'last-event-id': '2' }],
    ['/events/list?after=2', {}],
    [`/tasks/${id}/events?after=2`, {}],
  ] as const
  for (const [path, headers] of asked) {
    const problem = problemIn(await world.ask('GET', path, undefined, headers))
    expect([path, problem.status, problem.code, problem.details]).toMatchObject([
      path,
      409,
      'CURSOR_AHEAD',
      { after: 2, latest: 1 },
    ])
  }
  const stream = await follow(world, '/events?after=1')
  await world.engine.start(id)
  expect((await stream.next())?.event).toBe('task.started')
  await stream.cancel()
  expect((await world.ask('GET', '/events/list?after=2')).status).toBe(200)
})

it('the SSE stream of the feed resumed at a position yields the events after it in order, then new ones', async () => {
  const world = await openWorld()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await world.engine.create({ name })
  for (const [path, headers] of [
    ['/events?after=3', {}],
    ['/events', { 'last-event-id': '3' }],
    ['/events?after=1', { 'last-event-id': '3' }],
  ] as const) {
    const stream = await follow(world, path, headers)
    const first = [await stream.next(), await stream.next()]
    expect(first.map((event) => event?.id)).toEqual(['4', '5'])
    expect(first[0]).toMatchObject({ event: 'task.created', data: { seq: 4, type: 'task.created' } })
    await stream.cancel()
  }
})

it('the SSE stream of the feed begins with new events by default, and accepts types as one list', async () => {
  const world = await openWorld()
  const { id } = await world.engine.create({ name: 'a' })
  const stream = await follow(world, '/events?types=task.started,task.paused')
  await world.engine.start(id)
  await world.engine.pause(id)
  expect([(await stream.next())?.event, (await stream.next())?.event]).toEqual(['task.started', 'task.paused'])
  await stream.cancel()
})

it('an SSE stream buffers one piece of 64 KiB: no chunk is requested before the client has read the previous ones', async () => {
  const world = await openWorld()
  const { held, give } = handHeld(world)
  const pending = world.http(requestOf('POST', '/abilities/held:stream', {}))
  await settle()
  for (let index = 0; index < 20_000; index++) give(index, index)
  const reader = eventsOf(await pending)
  await settle()
  expect(held.asked).toBe(1)
  expect((await reader.next())?.data).toEqual({ n: 0 })
  expect((await reader.next())?.data).toEqual({ n: 1 })
  await settle()
  // About two thousand events per piece; each stage of the test's reader buffers another piece.
  expect(held.asked).toBeGreaterThan(1_000)
  expect(held.asked).toBeLessThan(10_000)
  await reader.cancel()
  await settle()
  expect(held).toMatchObject({ opened: 1, closed: 1 })
})

it('an SSE stream is released when the client cancels, when its request is aborted, and when the handler is closed', async () => {
  const world = await openWorld()
  const { held, give } = handHeld(world)
  const open = async (signal?: AbortSignal) => {
    const pending = world.http(requestOf('POST', '/abilities/held:stream', {}, {}, signal))
    await settle()
    give(0, 0)
    const stream = eventsOf(await pending)
    await stream.next()
    return stream
  }
  await (await open()).cancel()
  await settle()
  expect(held.closed).toBe(1)
  const leaving = new AbortController()
  const aborted = await open(leaving.signal)
  leaving.abort()
  expect(await aborted.next()).toBeUndefined()
  await settle()
  expect(held.closed).toBe(2)
  const left = await open()
  await world.http.close()
  expect(await left.next()).toBeUndefined()
  await settle()
  expect(held).toMatchObject({ opened: 3, closed: 3 })
})

it('an SSE stream beyond the limit is refused with 503, and each that ends makes room', async () => {
  const most = { maxStreams: 1_000, maxStreamsPerPrincipal: 2_000, maxRequestsPerPrincipal: 2_000 }
  const world = await openWorld({ ...most, rateLimit: false })
  let ended = 0
  world.engine.bus.onCall(({ abilityId }) => {
    if (abilityId === 'event:pages') ended += 1
  })
  const streams = await Promise.all(Array.from({ length: 1_000 }, () => follow(world, '/events')))
  const refused = await world.ask('GET', '/events')
  expect(problemIn(refused)).toMatchObject({ status: 503, code: 'TOO_MANY_STREAMS' })
  expect(refused.headers.get('retry-after')).toBe('5')
  await streams[0]?.cancel()
  const again = await follow(world, '/events')
  await Promise.all([...streams.slice(1), again].map((stream) => stream.cancel()))
  await settle()
  expect(ended).toBe(1_001)
  const open = await Promise.all(Array.from({ length: 1_000 }, () => follow(world, '/events')))
  await Promise.all(open.map((stream) => stream.cancel()))
})

it('V-09 an SSE stream beyond the limit of its principal is refused without affecting other principals', async () => {
  const world = await openWorld({
    rateLimit: false,
    authenticate: ({ headers }) => ({ scopes: ['read'], owner: headers.get('x-name') as string }),
  })
  const ann = { 'x-name': 'ann' }
  const held = await Promise.all(Array.from({ length: 16 }, () => follow(world, '/events', ann)))
  const refused = await world.ask('GET', '/events', undefined, ann)
  expect(problemIn(refused)).toMatchObject({
    status: 429,
    code: 'TOO_MANY_STREAMS',
    details: { maxStreamsPerPrincipal: 16 },
  })
  expect(refused.headers.get('retry-after')).toBe('5')
  await (await follow(world, '/events', { 'x-name': 'bob' })).cancel()
  await held[0]?.cancel()
  const again = await follow(world, '/events', ann)
  await Promise.all([...held.slice(1), again].map((stream) => stream.cancel()))
})

it('V-09 an SSE stream takes no slot when it is refused, and releases its slot once', async () => {
  const world = await openWorld({ maxStreams: 2, maxStreamsPerPrincipal: 2, rateLimit: false })
  for (let count = 0; count < 5; count++) {
    expect((await world.ask('GET', '/stream/missing')).status).toBe(404)
    const leaving = new AbortController()
    const stream = await follow(world, '/events', {}, leaving.signal)
    leaving.abort()
    await stream.cancel()
  }
  const both = [await follow(world, '/events'), await follow(world, '/events')]
  expect((await world.ask('GET', '/events')).status).toBe(429)
  await Promise.all(both.map((stream) => stream.cancel()))
})

it('an SSE stream of a HEAD request has the headers of a stream and opens none', async () => {
  const world = await openWorld({ maxStreams: 1 })
  for (let count = 0; count < 3; count++) {
    const { status, headers } = await world.ask('HEAD', '/events')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  }
  await (await follow(world, '/events')).cancel()
})

it('an SSE stream sends a heartbeat after each period of silence', async () => {
  const clock = new SimulatedClock()
  const world = await openWorld({ clock, heartbeatMs: 15_000 })
  const { give } = handHeld(world)
  const pending = world.http(requestOf('POST', '/abilities/held:stream', {}))
  await settle()
  clock.increment(100)
  const stream = eventsOf(await pending)
  for (let beat = 0; beat < 3; beat++) {
    const next = stream.next()
    await settle()
    clock.increment(15_000)
    expect((await next)?.comment).toBeDefined()
  }
  const next = stream.next()
  await settle()
  give(0, 7)
  expect((await next)?.data).toEqual({ n: 7 })
  await stream.cancel()
  await settle()
  expect(clock.pending).toBe(0)
})

it('an SSE stream is released when its client stops reading', async () => {
  const clock = new SimulatedClock()
  const world = await openWorld({ clock, stallMs: 30_000 })
  const { held, give } = handHeld(world)
  const pending = world.http(requestOf('POST', '/abilities/held:stream', {}))
  await settle()
  give(0, 0)
  const response = await pending
  clock.increment(29_999)
  await settle()
  expect(held.closed).toBe(0)
  clock.increment(1)
  await settle()
  expect(held.closed).toBe(1)
  await expect(response.text()).rejects.toThrow(/stopped reading/)
  expect(clock.pending).toBe(0)
})

it('an SSE stream reports an error in the middle as an event and ends', async () => {
  const world = await openWorld()
  const { give, fail } = handHeld(world)
  const pending = world.http(requestOf('POST', '/abilities/held:stream', {}))
  await settle()
  give(0, 1)
  const stream = eventsOf(await pending)
  await stream.next()
  fail(1, new Error('secret'))
  const [error, ...more] = await stream.rest()
  expect(error).toMatchObject({ event: 'error', data: { status: 500, code: 'INTERNAL_ERROR' } })
  expect(JSON.stringify(error)).not.toContain('secret')
  expect(more).toEqual([])
  expect(world.errors).toHaveLength(1)
})

it('an SSE stream of events breaks off when the engine closes, without an end event', async () => {
  const { engine, http } = await openWorld()
  await engine.create({ name: 'a' })
  const stream = eventsOf(await http(requestOf('GET', '/events?after=0')))
  await stream.next()
  const rest = stream.rest()
  await engine.close()
  expect((await rest).at(-1)).toMatchObject({ event: 'error', data: { status: 503, code: 'ENGINE_CLOSED' } })
})

it('an SSE stream ends with an end event, if the ability has none of its own', async () => {
  const world = await openWorld()
  world.engine.bus.register({
    id: 'count:up',
    description: 'Counts.',
    input: z.object({ to: z.number() }),
    output: z.number(),
    async *stream({ to }) {
      for (let n = 1; n <= to; n++) yield n
    },
  })
  const stream = eventsOf(await world.http(requestOf('POST', '/abilities/count:up', { to: 2 })))
  expect(await stream.rest()).toEqual([{ data: 1 }, { data: 2 }, { event: 'end', data: {} }])
})

it('an SSE stream over node:http ends when its client disconnects, and is delivered in full to a slow client', async () => {
  const world = await openWorld()
  const { held, give } = handHeld(world)
  const server = createServer(toNodeListener(world.http.fetch, (error) => world.errors.push(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const closed = Promise.withResolvers<void>()
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(
      `POST /abilities/held:stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    )
  })
  const stop = world.engine.bus.onCall(({ abilityId }) => {
    if (abilityId === 'held:stream') closed.resolve()
  })
  onTestFinished(stop)
  const opened = new Promise<void>((resolve) => {
    socket.once('data', () => resolve())
  })
  await settle()
  await opened
  give(0, 1)
  socket.destroy()
  await closed.promise
  await settle()
  expect(held).toMatchObject({ opened: 1, closed: 1 })

  world.engine.bus.register({
    id: 'count:much',
    description: 'Counts, at length.',
    input: z.object({}),
    output: z.string(),
    async *stream() {
      for (let n = 0; n < 200; n++) yield `${n} ${'x'.repeat(10_000)}`
    },
  })
  const response = await fetch(`http://127.0.0.1:${port}/abilities/count:much`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const events = await eventsOf(response).rest()
  expect(events).toHaveLength(201)
  expect(world.errors).toEqual([])
})
