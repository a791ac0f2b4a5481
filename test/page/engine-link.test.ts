// EngineLink: reads every row once, follows the feed, and reads changed rows again in few requests, without losing a change.

import { expect, it } from 'vitest'
import { ApiClient } from '../../page/src/live/api-client.ts'
import { EngineLink } from '../../page/src/live/engine-link.ts'
import type { Problem, TaskEvent, TaskRow } from '../../page/src/model/wire.ts'
import { eventOf, rowOf } from './page-fixtures.ts'

const pageSize = 5_000
const encoder = new TextEncoder()
const sse = (event: TaskEvent) =>
  encoder.encode(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
const json = (body: unknown, status = 200) => Response.json(body, { status })

/** A server with tasks. The test writes to its feed, and can make it refuse requests. */
class FakeServer {
  rows = new Map<string, TaskRow>()
  seq = 0
  /** Ids of each request for single rows. */
  readonly asked: string[][] = []
  /** The requests for all rows. */
  readonly listed: Array<{ system?: boolean }> = []
  /** The position from which each follower requested the feed. */
  readonly cursors: number[] = []
  refuseFeed: Problem | null = null
  refuseReads = 0
  #feed: ReadableStreamDefaultController<Uint8Array> | undefined

  add(...ids: string[]): void {
    for (const id of ids) this.rows.set(id, rowOf({ id, seq: this.rows.size + 1 }))
  }

  change(id: string, change: Partial<TaskRow>, data: object = {}): void {
    const row = { ...(this.rows.get(id) ?? rowOf({ id, seq: this.rows.size + 1 })), ...change }
    this.rows.set(id, row)
    const { name, status } = row
    this.#feed?.enqueue(sse(eventOf({ seq: ++this.seq, taskId: id, data: { name, status, ...data } })))
  }

  /** The connection of the feed breaks. */
  breakFeed(): void {
    this.#feed?.error(new Error('broken'))
    this.#feed = undefined
  }

  fetch = async (url: unknown, request?: RequestInit): Promise<Response> => {
    const { pathname, searchParams } = url as URL
    if (pathname === '/events/list') return json({ events: [], next: null, seq: this.seq })
    if (pathname === '/events') return this.#follow(Number(searchParams.get('after')))
    return this.#read(JSON.parse(request?.body as string) as { ids?: string[]; after?: number })
  }

  #follow(after: number): Response {
    this.cursors.push(after)
    if (this.refuseFeed !== null) {
      const problem = this.refuseFeed
      this.refuseFeed = null
      return json(problem, problem.status)
    }
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      this.#feed = controller
    }
    return new Response(new ReadableStream({ start }))
  }

  #read({ ids, after = 0, ...rest }: { ids?: string[]; after?: number; system?: boolean }): Response {
    if (ids === undefined) this.listed.push(rest)
    else this.asked.push(ids)
    if (ids !== undefined && this.refuseReads-- > 0) return json({ code: 'LEDGER_BUSY', detail: 'busy' }, 503)
    const found = ids === undefined ? [...this.rows.values()] : ids.flatMap((id) => this.rows.get(id) ?? [])
    const page = found.filter(({ seq }) => seq > after).slice(0, pageSize)
    const last = page.at(-1)
    const more = last !== undefined && found.some(({ seq }) => seq > last.seq)
    return json({ tasks: page, total: found.length, next: more && last !== undefined ? last.seq : null, seq: this.seq })
  }
}

/** A clock that the test moves; `waited` is called when a timer is set. */
class ManualClock {
  #now = 0
  #last = 0
  readonly #timers = new Map<number, { at: number; callback: () => void }>()
  readonly #waited: () => void

  constructor(waited: () => void) {
    this.#waited = waited
  }

  now = () => this.#now
  frame = (callback: () => void) => queueMicrotask(callback)
  later = (callback: () => void, ms: number) => {
    this.#timers.set(++this.#last, { at: this.#now + ms, callback })
    queueMicrotask(this.#waited)
    return this.#last
  }
  cancel = (timer: unknown) => void this.#timers.delete(timer as number)
  random = () => 1

  pass(ms: number): void {
    this.#now += ms
    const due = [...this.#timers].filter(([, { at }]) => at <= this.#now)
    for (const [id, { callback }] of due) {
      this.#timers.delete(id)
      callback()
    }
  }
}

function setup(server = new FakeServer()) {
  const watchers = new Set<() => void>()
  const look = () => {
    for (const watcher of watchers) watcher()
  }
  const clock = new ManualClock(look)
  const reports = { inSight: [] as string[], refused: [] as Problem[], connections: [] as string[], loaded: 0 }
  const api = new ApiClient({
    base: 'http://engine.test/',
    fetch: server.fetch as typeof fetch,
    token: () => 'token',
    signedOut: () => {},
  })
  const link = new EngineLink(api, clock, {
    changed: look,
    inSight: () => reports.inSight,
    event: look,
    connection: (connection) => {
      reports.connections.push(connection)
      look()
    },
    loaded: () => {
      reports.loaded++
      look()
    },
    refused: (problem) => {
      reports.refused.push(problem)
      look()
    },
  })
  /** Resolves when the condition holds; it is checked at each report of the link. */
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const watcher = () => {
        if (!holds()) return
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
      watcher()
    })
  const open = async () => {
    await link.load()
    await until(() => reports.connections.at(-1) === 'open')
  }
  return { server, clock, link, reports, until, open }
}

it('EngineLink reads every page of tasks, and follows the feed from the position of the first page', async () => {
  const server = new FakeServer()
  server.add(...Array.from({ length: pageSize + 7 }, (_, index) => `t${index}`))
  server.seq = 40
  const { link, open, reports } = setup(server)
  await open()
  expect(link.store.rows.size).toBe(pageSize + 7)
  expect(server.cursors).toEqual([40])
  expect(reports.loaded).toBe(1)
  link.close()
})

it('EngineLink reads changed rows again: the first at once, later ones together in one request', async () => {
  const server = new FakeServer()
  const ids = Array.from({ length: 300 }, (_, index) => `t${index}`)
  server.add(...ids)
  const { link, open, until, clock } = setup(server)
  await open()
  server.change('t0', { status: 'working', progress: { fraction: 0.5, note: null } })
  await until(() => link.store.rows.get('t0')?.progress?.fraction === 0.5)
  for (const id of ids) server.change(id, { status: 'working', executor: 'resize' })
  await until(() => link.store.seq === server.seq)
  expect(link.store.rows.get('t299')).toMatchObject({ status: 'working', executor: null })
  clock.pass(250)
  await until(() => link.store.rows.get('t299')?.executor === 'resize')
  expect(server.asked.map(({ length }) => length)).toEqual([1, 300])
  link.close()
})

it('EngineLink leaves out system tasks until they are asked for, and the other ones then', async () => {
  const server = new FakeServer()
  server.add('a')
  const { link, open, until, reports, clock } = setup(server)
  await open()
  server.change('delivery', { status: 'working' }, { system: true })
  server.change('b', {})
  await until(() => link.store.rows.has('b'))
  expect(server.asked).toEqual([['b']])
  link.show(true)
  await until(() => reports.loaded === 2 && reports.connections.at(-1) === 'open')
  expect(server.listed.map(({ system }) => system)).toEqual([undefined, true])
  server.change('handler', { status: 'working' }, { system: true })
  server.change('c', {})
  await until(() => link.store.seq === server.seq)
  clock.pass(250)
  await until(() => link.store.rows.has('handler'))
  expect(server.asked.flat()).toEqual(['b', 'handler'])
  link.close()
})

it('EngineLink reads rows again that may have changed without an event', async () => {
  const server = new FakeServer()
  server.add('a', 'b')
  const { link, open, until } = setup(server)
  await open()
  server.rows.set('a', { ...server.rows.get('a')!, status: 'working', statusReason: 'interrupted' })
  link.readAgain(['a'])
  await until(() => link.store.rows.get('a')?.statusReason === 'interrupted')
  link.readAgain([])
  expect(server.asked).toEqual([['a']])
  link.close()
})

it('EngineLink reads at most 1,000 rows per request, and twice a second during a burst', async () => {
  const server = new FakeServer()
  const ids = Array.from({ length: 2_100 }, (_, index) => `t${index}`)
  server.add(...ids)
  const { link, open, until, clock } = setup(server)
  await open()
  for (const id of ids) server.change(id, { status: 'working', executor: 'resize' })
  await until(() => link.store.seq === server.seq)
  // The first changed row was read at once.
  const done = () => [...link.store.rows.values()].every(({ executor }) => executor === 'resize')
  for (let round = 1; !done() && round < 10; round++) {
    const asked = server.asked.length
    clock.pass(round === 1 ? 250 : 500)
    await until(() => done() || server.asked.length > asked)
  }
  await until(done)
  expect(server.asked.map(({ length }) => length)).toEqual([1, 1_000, 1_000, 99])
  link.close()
})

it('EngineLink reads visible rows first', async () => {
  const server = new FakeServer()
  const ids = Array.from({ length: 1_500 }, (_, index) => `t${index}`)
  server.add(...ids)
  const { link, open, until, clock, reports } = setup(server)
  await open()
  reports.inSight = ['t1499', 't1200']
  for (const id of ids) server.change(id, { status: 'working' })
  await until(() => link.store.seq === server.seq)
  clock.pass(250)
  await until(() => server.asked.length === 2)
  expect(server.asked[1]?.slice(0, 3)).toEqual(['t1499', 't1200', 't1'])
  link.close()
})

it('EngineLink continues at the last received position after a disconnection', async () => {
  const { server, link, open, until, clock, reports } = setup()
  server.add('a')
  await open()
  server.change('a', { status: 'working' })
  server.change('a', { status: 'paused' })
  await until(() => link.store.seq === 2)
  server.breakFeed()
  await until(() => reports.connections.at(-1) === 'broken')
  clock.pass(300)
  await until(() => reports.connections.at(-1) === 'open')
  expect(server.cursors).toEqual([0, 2])
  link.close()
})

it.each([
  [410, 'CURSOR_TOO_OLD'],
  [409, 'CURSOR_AHEAD'],
])('EngineLink reads everything again when its position is refused with %i %s', async (status, code) => {
  const { server, link, open, until, clock, reports } = setup()
  server.add('old')
  await open()
  server.breakFeed()
  await until(() => reports.connections.at(-1) === 'broken')
  server.refuseFeed = { status, code, title: '', detail: 'gone', details: {} }
  server.rows.clear()
  server.add('new')
  clock.pass(300)
  await until(() => link.store.rows.has('new'))
  expect([...link.store.rows.keys()]).toEqual(['new'])
  expect(reports.refused).toEqual([])
  link.close()
})

it('EngineLink repeats a failed read, so that no row stays outdated', async () => {
  const { server, link, open, until, clock } = setup()
  server.add('a')
  await open()
  server.refuseReads = 1
  server.change('a', { status: 'working', executor: 'resize' })
  await until(() => server.asked.length === 1 && link.store.dirtyCount === 1)
  clock.pass(1_000)
  await until(() => link.store.rows.get('a')?.executor === 'resize')
  expect(server.asked).toEqual([['a'], ['a']])
  link.close()
})

it('EngineLink reports a refusal of the server and sends no further requests', async () => {
  const { server, link, until, reports } = setup()
  server.refuseFeed = { status: 403, code: 'FORBIDDEN', title: '', detail: 'not for you', details: {} }
  await link.load()
  await until(() => reports.refused.length === 1)
  expect(reports.refused[0]).toMatchObject({ code: 'FORBIDDEN', detail: 'not for you' })
  expect(server.cursors).toHaveLength(1)
  link.close()
})
