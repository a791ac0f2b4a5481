// TaskSession: what the page reads of the opened task.

import { expect, it } from 'vitest'
import { ApiClient } from '../../page/src/live/api-client.ts'
import { TaskSession } from '../../page/src/live/task-session.ts'
import type { Fact } from '../../page/src/model/wire.ts'

const json = (body: unknown, status = 200) => Response.json(body, { status })

interface FactQuery {
  branch?: string
  taskId?: string
  limit: number
  before?: number
}

/** A server with one task that has ended, and this many facts, numbered from 1. */
class FakeServer {
  branch: string | null = 'task/birds'
  facts = 0
  /** The number of runs and of calls, each on a page of its own. */
  rows = 1
  remembers = true
  /** The number of events, and of messages. */
  events = 0
  readonly asked: FactQuery[] = []

  fetch = async (url: unknown, request?: RequestInit): Promise<Response> => {
    const { pathname } = url as URL
    if (pathname === '/abilities/mem:facts') return this.#facts(JSON.parse(request?.body as string) as FactQuery)
    if (pathname === '/tasks') return json({ tasks: [] })
    if (pathname.endsWith('/context')) return this.#context()
    const after = Number((url as URL).searchParams.get('after'))
    if (pathname.endsWith('/events')) {
      if (after > this.events) return json({ status: 409, code: 'CURSOR_AHEAD', detail: 'beyond' }, 409)
      const numbers = Array.from({ length: this.events - after }, (_, index) => after + index + 1)
      return json({ events: numbers.map((seq) => ({ seq })), next: null, seq: this.events })
    }
    if (pathname.endsWith('/messages')) {
      const numbers = Array.from({ length: Math.max(0, this.events - after) }, (_, index) => after + index + 1)
      return json({ messages: numbers.map((n) => ({ id: `m${n}` })), next: Math.max(after, this.events) })
    }
    if (pathname.endsWith('/runs') || pathname.endsWith('/calls')) {
      const rows = [{ id: `row-${after + 1}` }]
      return json({ runs: rows, calls: rows, next: after + 1 < this.rows ? after + 1 : null })
    }
    return json({ task: { id: 'a', generation: 1, completedAt: 5 }, seq: 1 })
  }

  #context(): Response {
    if (!this.remembers) return json({ code: 'NOT_OFFERED', detail: 'Memory is off.' }, 400)
    return json({ task: { branch: this.branch } })
  }

  #facts(query: FactQuery): Response {
    this.asked.push(query)
    const from = query.before === undefined ? this.facts : query.before - 1
    const numbers = Array.from({ length: Math.min(query.limit, from) }, (_, index) => from - index)
    const last = numbers.at(-1) ?? 0
    return json({ facts: numbers.map((number) => ({ id: `f${number}` }) as Fact), next: last > 1 ? last : null })
  }
}

async function opened(server: FakeServer) {
  const api = new ApiClient({
    base: 'http://engine.test/',
    fetch: server.fetch as typeof fetch,
    token: () => 'token',
    signedOut: () => {},
  })
  const clock = { now: () => 0, frame: () => {}, later: () => 0, cancel: () => {}, random: () => 1 }
  const session = new TaskSession('a', api, clock)
  // The first read of the session is in progress; this one follows it.
  await session.read()
  const ids = () => session.facts.value.map(({ id }) => id)
  return { session, ids }
}

it('TaskSession reads the facts of the branch of the task, newest first, and older ones on request', async () => {
  const server = new FakeServer()
  server.facts = 50
  const { session, ids } = await opened(server)
  expect(server.asked[0]).toEqual({ branch: 'task/birds', limit: 20 })
  expect([ids().length, ids()[0], ids().at(-1)]).toEqual([20, 'f50', 'f31'])
  await session.showOlderFacts()
  await session.showOlderFacts()
  expect(new Set(ids()).size).toBe(50)
  expect(session.olderFacts.value).toBeNull()
  await session.showOlderFacts()
  expect(ids()).toHaveLength(50)
})

it('TaskSession keeps the loaded facts when the task is read again, and adds new ones before them', async () => {
  const server = new FakeServer()
  server.facts = 30
  const { session, ids } = await opened(server)
  await session.showOlderFacts()
  server.facts = 32
  await session.read()
  expect([ids()[0], new Set(ids()).size]).toEqual(['f32', 32])
  await session.showOlderFacts()
  expect([ids().at(-1), new Set(ids()).size]).toEqual(['f1', 32])
})

it('TaskSession reads the facts found while working on a task without a branch', async () => {
  const server = new FakeServer()
  server.branch = null
  server.facts = 1
  const { ids } = await opened(server)
  expect(server.asked[0]).toEqual({ taskId: 'a', limit: 20 })
  expect(ids()).toEqual(['f1'])
})

it('TaskSession shows a task without its facts if memory is not available', async () => {
  const server = new FakeServer()
  server.remembers = false
  const { session, ids } = await opened(server)
  expect(ids()).toEqual([])
  expect(session.problem.value).toBeNull()
  expect(session.shown.value?.task.id).toBe('a')
})

it('TaskSession reads runs and calls page by page', async () => {
  const server = new FakeServer()
  server.rows = 3
  const { session } = await opened(server)
  expect(session.runs.value).toEqual([{ id: 'row-1' }, { id: 'row-2' }, { id: 'row-3' }])
  expect(session.calls.value).toEqual(session.runs.value)
})

it('TaskSession reads the events and messages again when the server has an older copy of the ledger', async () => {
  const server = new FakeServer()
  server.events = 5
  const { session } = await opened(server)
  server.events = 3
  await session.read()
  expect(session.events.value.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(session.messages.value.map(({ id }) => id)).toEqual(['m1', 'm2', 'm3'])
  expect(session.problem.value).toBeNull()
})
