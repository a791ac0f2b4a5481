// The limit of the bytes that a principal has in flight, over real sockets: an answer is in flight until its client has read it.
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createEngine, defineAbility, type Engine } from '../../../src/index.ts'
import { createHttp, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { listen } from '../../../src/surfaces/web/node-server.ts'
import { deferred } from '../../engine/world.ts'

/** 9 MB in one row: more than a page, and more than the sockets of a connection hold, so that an answer stays in flight until it is read. */
const result = '漢'.repeat(3_000_000)
/** 128 MiB, with 4 MiB expected for each page. */
const maxAtOnce = 32

/** A bus whose calls of `task:calls` are counted, and are answered when there are so many of them at once. */
function countedBus(bus: Engine['bus'], called: string[]): Engine['bus'] {
  const allCalled = deferred<void>()
  type Call = (id: string, input: unknown, options: { caller: { owner: string } }) => Promise<unknown>
  const call: Call = async (id, input, options) => {
    called.push(`${options.caller.owner} ${id}`)
    if (called.length === maxAtOnce) allCalled.resolve()
    if (id === 'task:calls') await allCalled.promise
    return (bus.call as unknown as Call)(id, input, options)
  }
  return new Proxy(bus, {
    get(target, name) {
      const value: unknown = name === 'call' ? call : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A server with a task that has a call with a long result, and with an ability that waits for something else. */
async function openServer() {
  const called: string[] = []
  const errors: unknown[] = []
  const upstream = deferred<string>()
  const slow = defineAbility({
    id: 'test:slow',
    access: 'read',
    description: 'Asks another service.',
    input: z.strictObject({}),
    output: z.string(),
    handle: () => upstream.promise,
  })
  const engine = await createEngine({
    ledger: ':memory:',
    abilities: [slow],
    executors: { long: async (_task, run) => void (await run.call('long', () => result)) },
  })
  onTestFinished(() => engine.close())
  const { id } = await engine.create({ executor: 'long' })
  await engine.result(id)
  const http = createHttp(
    { bus: countedBus(engine.bus, called) },
    {
      authenticate: ({ headers }) => ({ owner: headers.get('x-owner') ?? 'unnamed', scopes: ['read', 'create'] }),
      rateLimit: false,
      onError: (error) => errors.push(error),
    },
  )
  // On a busy machine a request may take long to arrive.
  const limits = { closeGraceMs: 0, headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 }
  const server = await listen({ listener: () => toNodeListener(http.fetch, () => {}), limits })
  onTestFinished(() => server.close())

  /** Sends a request. Its answer is not read before `read` is called. */
  const ask = (owner: string, ability: string, input: object = {}) => {
    const headers = { 'x-owner': owner, 'content-type': 'application/json' }
    const asked = request(`${server.url}/abilities/${ability}`, { method: 'POST', headers, agent: false })
    asked.on('error', () => {})
    const answered = once(asked, 'response').then(([response]) => response)
    answered.catch(() => {})
    asked.end(JSON.stringify(input))
    return {
      read: async () => ({ status: (await answered).statusCode, length: (await text(await answered)).length }),
      leave: () => void asked.destroy(),
    }
  }
  return {
    ask,
    upstream,
    errors,
    askCalls: (owner: string) => ask(owner, 'task:calls', { taskId: id }),
    change: (owner: string) => ask(owner, 'task:create', { name: 'another' }),
    calledBy: (owner: string) => called.filter((each) => each === `${owner} task:calls`).length,
  }
}

const whole = { status: 200, length: expect.any(Number) }

it('a client that reads no answers holds up its own reads, and neither its changes nor other clients', async () => {
  const { askCalls, calledBy, change } = await openServer()
  const asked = Array.from({ length: 36 }, () => askCalls('greedy'))
  await expect.poll(() => calledBy('greedy')).toBe(maxAtOnce)
  const { length } = await askCalls('other').read()
  expect(length).toBeGreaterThan(result.length)
  expect(await change('greedy').read()).toEqual(whole)
  expect(calledBy('greedy')).toBe(maxAtOnce)
  for (const { read } of asked) expect(await read()).toEqual({ status: 200, length })
})

it('answers of clients that have left are no longer in flight, nor are their reads that wait, and that is no error', async () => {
  const { askCalls, calledBy, errors } = await openServer()
  const asked = Array.from({ length: maxAtOnce + 8 }, () => askCalls('greedy'))
  await expect.poll(() => calledBy('greedy')).toBe(maxAtOnce)
  for (const { leave } of asked.reverse()) leave()
  expect(await askCalls('greedy').read()).toEqual(whole)
  expect(errors).toEqual([])
})

it('reads that wait for another service hold up no others', async () => {
  const { ask, upstream } = await openServer()
  const slow = Array.from({ length: 2 * maxAtOnce }, () => ask('patient', 'test:slow'))
  expect(await ask('patient', 'task:list').read()).toEqual(whole)
  upstream.resolve('done')
  for (const { read } of slow) expect(await read()).toEqual(whole)
})
