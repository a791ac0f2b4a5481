// The handler inside other servers: below a prefix in Hono and in Fastify, and as a listener of node:http.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeListener } from '../../../src/surfaces/http/index.ts'
import { eventsOf, openWorld, requestOf, token } from './world.ts'

it('X-029 the HTTP handler in Hono answers below its base path, and leaves other routes alone', async () => {
  const { http, engine } = await openWorld({ basePath: '/errand' })
  const app = new Hono()
  app.get('/', (context) => context.text('mine'))
  app.mount('/errand', http.fetch)
  expect(await (await app.request('/')).text()).toBe('mine')
  expect((await app.request('/errand/tasks')).status).toBe(401)
  const created = await app.fetch(requestOf('POST', '/errand/tasks', { name: 'a' }))
  const location = created.headers.get('location') as string
  expect(location).toMatch(/^\/errand\/tasks\//)
  const shown = await app.fetch(requestOf('GET', location))
  expect(await shown.json()).toMatchObject({ task: { name: 'a' } })
  const stream = eventsOf(await app.fetch(requestOf('GET', '/errand/events?after=0')))
  expect((await stream.next())?.event).toBe('task.created')
  await stream.cancel()
  expect((await engine.list({})).total).toBe(1)
})

it('the HTTP handler in Fastify gets the original request and its body', async () => {
  const { http, errors } = await openWorld({ basePath: '/errand' })
  const listener = toNodeListener(http.fetch, (error) => errors.push(error))
  const app = fastify()
  onTestFinished(() => app.close())
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.all('/errand/*', (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'a' })
  const created = await fetch(`${url}/errand/tasks`, { method: 'POST', headers, body })
  expect(created.status).toBe(201)
  const stream = eventsOf(await fetch(`${url}/errand/events?after=0`, { headers }))
  expect((await stream.next())?.event).toBe('task.created')
  await stream.cancel()
  expect(errors).toEqual([])
})

it('the HTTP handler in node:http gets the peer address, reads bodies in chunks, and refuses bodies that are too large', async () => {
  const { http, errors } = await openWorld({ rateLimit: { perSecond: 0.001, burst: 3 } })
  const server = createServer(toNodeListener(http.fetch, (error) => errors.push(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (body: string) => fetch(`${url}/tasks`, { method: 'POST', headers, body })
  const created = await post(JSON.stringify({ name: 'a', input: 'x'.repeat(500_000) }))
  expect(created.status).toBe(201)
  expect((await post(' '.repeat(10 * 1024 * 1024))).status).toBe(413)
  expect((await fetch(`${url}/tasks`, { headers })).status).toBe(200)
  expect((await fetch(`${url}/tasks`, { headers })).status).toBe(429)
  expect(errors).toEqual([])
})
