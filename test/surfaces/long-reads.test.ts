// Long reads over HTTP and MCP: a read whose client has disconnected ends, and a client with many reads does not hold up others.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CallLogEntry } from '../../src/bus/call-log.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { createEngine } from '../../src/index.ts'
import { maxQueuedLongReads } from '../../src/ledger/sqlite/long-reads.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.ts'
import { mcpFetchHandler } from '../../src/surfaces/mcp/index.ts'
import { taskRow } from '../ledger/factories.ts'
import { problemIn, requestOf, serve } from './http/world.ts'
import * as mcp from './mcp/world.ts'

/** An engine on a ledger whose clock makes every statement slow, with a read that lasts until the test releases it. */
async function openBusyWorld() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-long-'))
  let now = 0
  const slowClock: Clock = {
    ...systemClock,
    now: () => (now += 20),
    setTimeout: (work) => systemClock.setTimeout(work, 0),
  }
  const ledger = await openSqliteLedger(join(folder, 'ledger.db'), slowClock)
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (let n = 0; n < 10; n++) yield* tx.task.insert(taskRow({ id: `task-${n}` }))
    },
  })
  const engine = await createEngine({ ledger, work: false })
  onTestFinished(async () => {
    free()
    await occupied
    await engine.close()
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  let isFree = false
  const free = () => (isFree = true)
  const occupied = ledger.read(function* (tx) {
    while (!isFree) yield* tx.task.count({})
  })

  /** How often a query of a client has started: a long one starts twice, unless it was dropped meanwhile. */
  let begun = 0
  let onQueued = () => {}
  const read = ledger.read.bind(ledger)
  ledger.read = (query, reader) => {
    if (reader?.principal === undefined) return read(query, reader)
    const reading = read(function* (tx) {
      begun++
      return yield* query(tx)
    }, reader)
    onQueued()
    return reading
  }
  /** Resolves when this many reads of clients are queued. */
  const queued = (count: number) =>
    new Promise<void>((resolve) => {
      onQueued = () => {
        if (--count === 0) resolve()
      }
    })
  const ended = () =>
    new Promise<CallLogEntry>((resolve) => {
      const stop = engine.bus.onCall((entry) => {
        stop()
        resolve(entry)
      })
    })
  return { engine, free, queued, ended, begun: () => begun }
}

const asked = (owner: string, signal?: AbortSignal) => requestOf('GET', '/tasks?text=a', undefined, { owner }, signal)
const authenticate = ({ headers }: Request) => ({ scopes: ['read' as const], owner: headers.get('owner') ?? 'unnamed' })

it('V-07 a long read over HTTP ends when its client has disconnected, and does not hold up others', async () => {
  const { engine, free, queued, begun } = await openBusyWorld()
  const { http } = serve(engine, { authenticate })
  const controller = new AbortController()
  const allQueued = queued(maxQueuedLongReads)
  const dropped = Array.from({ length: maxQueuedLongReads }, () => http(asked('ann', controller.signal)))
  await allQueued
  controller.abort()
  await Promise.all(dropped)
  expect(begun()).toBe(maxQueuedLongReads)
  free()
  expect((await http(asked('bob'))).status).toBe(200)
  expect(begun()).toBe(maxQueuedLongReads + 2)
})

it('V-07 a long read over HTTP is answered with 429 for a client with many waiting reads, and served for other clients', async () => {
  const { engine, free, queued } = await openBusyWorld()
  const { http, ask } = serve(engine, { authenticate })
  const allQueued = queued(maxQueuedLongReads)
  const waiting = Array.from({ length: maxQueuedLongReads }, () => http(asked('ann')))
  await allQueued
  const refused = await ask('GET', '/tasks?text=a', undefined, { owner: 'ann' })
  expect(problemIn(refused)).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
  expect(refused.headers.get('retry-after')).toBe('1')
  const others = http(asked('bob'))
  free()
  for (const answer of await Promise.all([...waiting, others])) expect(answer.status).toBe(200)
})

it('V-07 a long read over MCP ends when its client has disconnected', async () => {
  const { engine, queued, ended, begun } = await openBusyWorld()
  const handler = mcpFetchHandler(engine, { token: mcp.token, abilities: ['task:list'] })
  onTestFinished(() => handler.close())
  const controller = new AbortController()
  const once = queued(1)
  const call = mcp.modernRequest('tools/call', { name: 'task_list', arguments: {} })
  const answer = handler(new Request(mcp.requestOf(call), { signal: controller.signal })).catch(() => undefined)
  await once
  const entry = ended()
  controller.abort()
  expect(await entry).toMatchObject({ abilityId: 'task:list', ok: false })
  await answer
  expect(begun()).toBe(1)
})

it('V-07 a change continues when its client has disconnected, so that it is not left incomplete', async () => {
  const { engine, free, queued } = await openBusyWorld()
  const controller = new AbortController()
  const caller = { surface: 'http', owner: 'ann' }
  engine.bus.register({
    id: 'book:close',
    description: 'Reads, then closes the book.',
    access: 'control',
    input: { type: 'object' },
    output: { type: 'object' },
    handle: async (_input, { caller }) => ({ total: (await engine.bus.call('task:list', {}, { caller })).total }),
  })
  const once = queued(1)
  const closing = engine.bus.call('book:close', {}, { caller, signal: controller.signal })
  await once
  controller.abort()
  free()
  expect(await closing).toEqual({ total: 10 })
})
