// The limit of the bytes that a principal has in flight, over real sockets: an answer is in flight until its client has read it.
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createEngine, defineAbility } from '../../../src/index.ts'
import { createHttp, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { listen } from '../../../src/web/node-server.ts'
import { deferred } from '../../engine/world.ts'

/** More than the sockets of a connection hold, so that an answer stays in flight until its client reads. */
const answerLength = 8 * 1024 * 1024
/** 64 MiB, with 4 MiB expected for each read. */
const maxAtOnce = 16

/** A server with an ability that reads much, and one that changes something. */
async function openServer() {
  const calls: string[] = []
  const allCalled = deferred<void>()
  const ability = (id: string, access: 'read' | 'control') =>
    defineAbility({
      id,
      access,
      description: 'Returns a long text.',
      input: z.strictObject({}),
      output: z.string(),
      handle: async (_input, { caller }) => {
        calls.push(`${caller.owner} ${id}`)
        if (calls.length === maxAtOnce) allCalled.resolve()
        await allCalled.promise
        return 'x'.repeat(answerLength)
      },
    })
  const engine = await createEngine({
    ledger: ':memory:',
    abilities: [ability('test:read', 'read'), ability('test:change', 'control')],
  })
  onTestFinished(() => engine.close())
  const http = createHttp(engine, {
    authenticate: ({ headers }) => ({ owner: headers.get('x-owner') ?? 'unnamed', scopes: ['read', 'control'] }),
    rateLimit: false,
  })
  const server = await listen({ listener: () => toNodeListener(http.fetch, () => {}), limits: { closeGraceMs: 0 } })
  onTestFinished(() => server.close())

  /** Sends a request. Its answer is not read before `read` is called. */
  const ask = (owner: string, id: string) => {
    const headers = { 'x-owner': owner, 'content-type': 'application/json' }
    const asked = request(`${server.url}/abilities/${id}`, { method: 'POST', headers, agent: false })
    asked.on('error', () => {})
    const answered = once(asked, 'response').then(([response]) => response)
    answered.catch(() => {})
    asked.end('{}')
    return {
      read: async () => (await text(await answered)).length,
      leave: () => void asked.destroy(),
    }
  }
  const called = (call: string) => calls.filter((each) => each === call).length
  return { ask, called }
}

it('a client that reads no answers holds up its own reads, and neither its changes nor other clients', async () => {
  const { ask, called } = await openServer()
  const asked = Array.from({ length: 24 }, () => ask('greedy', 'test:read'))
  await expect.poll(() => called('greedy test:read')).toBe(maxAtOnce)
  expect(await ask('other', 'test:read').read()).toBe(answerLength + 2)
  expect(await ask('greedy', 'test:change').read()).toBe(answerLength + 2)
  expect(called('greedy test:read')).toBe(maxAtOnce)
  const lengths = await Promise.all(asked.map(({ read }) => read()))
  expect(new Set(lengths)).toEqual(new Set([answerLength + 2]))
})

it('answers of clients that have left are no longer in flight, nor are their reads that wait', async () => {
  const { ask, called } = await openServer()
  const asked = Array.from({ length: 2 * maxAtOnce }, () => ask('greedy', 'test:read'))
  await expect.poll(() => called('greedy test:read')).toBe(maxAtOnce)
  for (const { leave } of asked.reverse()) leave()
  expect(await ask('greedy', 'test:read').read()).toBe(answerLength + 2)
  expect(called('greedy test:read')).toBeLessThanOrEqual(2 * maxAtOnce + 1)
})
