// The whole HTTP server, over real connections: what it serves to which clients, several servers in one process, and closing.
import { request as httpRequest } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../../../src/bus/ability.ts'
import type { Engine } from '../../../../src/engine/engine-api.ts'
import { type ErrandServer, type ServeOptions, serve } from '../../../../src/surfaces/http/index.ts'
import { hostsAt } from '../../../../src/surfaces/web/request-guard.ts'
import { deferred, openEngine, refusalOf } from '../../../engine/world.ts'

const token = 'a-token-that-is-long-enough-for-a-test'

async function serving(options: ServeOptions = {}, engine?: Engine): Promise<ErrandServer> {
  const server = await serve(engine ?? (await openEngine()), options)
  onTestFinished(() => server.close())
  return server
}

const bearing = (token: string | undefined) => ({ authorization: `Bearer ${token}` })

/** Uses node:http, because fetch always sends the host that it connects to. */
function status(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject)
    request.end()
  })
}

it('the HTTP server listens on loopback with a generated token, and serves the routes only to clients with the token', async () => {
  const { url, token: made } = await serving()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(made).toMatch(/^[a-z2-7]{52}$/)
  expect(await (await fetch(`${url}/status`, { headers: bearing(made) })).json()).toMatchObject({ queued: 0 })
  for (const path of [
    '/',
    '/status',
    '/tasks',
    '/nothing',
    '/assets/x',
    '/docs',
    '/openapi.json',
    '/session',
    '/events',
  ]) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 401])
    expect([path, (await fetch(url + path, { method: 'POST', body: '{}' })).status]).toEqual([path, 401])
  }
  expect((await fetch(`${url}/nothing`, { headers: bearing(made) })).status).toBe(404)
})

it('the HTTP server refuses a Host with another port or another name', async () => {
  const { url } = await serving({ token })
  const { port } = new URL(url)
  for (const path of ['/', '/status', '/docs', '/session']) {
    expect(await status(url + path, { ...bearing(token), host: `127.0.0.1:${Number(port) + 1}` })).toBe(403)
    expect(await status(url + path, { ...bearing(token), host: `evil.example:${port}` })).toBe(403)
  }
  expect(await status(`${url}/status`, { ...bearing(token), host: `localhost:${port}` })).toBe(200)
  const named = await serving({ token, allowedHosts: ['tasks.example.org'] })
  expect(await status(`${named.url}/status`, { ...bearing(token), host: 'tasks.example.org' })).toBe(200)
  expect(await status(`${named.url}/status`, bearing(token))).toBe(403)
})

it('the HTTP server accepts a Host without a port if it listens on the default port, which clients omit', () => {
  expect(hostsAt('127.0.0.1', 80)).toEqual(expect.arrayContaining(['localhost', '127.0.0.1', '127.0.0.1:80', '[::1]']))
  expect(hostsAt('tasks.local', 80)).toContain('tasks.local')
  expect(hostsAt('127.0.0.1', 8080)).not.toContain('127.0.0.1')
})

it('the HTTP server uses the authenticate option instead of a token, for the page too', async () => {
  const { url, token: none } = await serving({
    authenticate: ({ headers }) => (headers.get('x-user') === 'ann' ? { scopes: ['read'], owner: 'ann' } : null),
  })
  const ann = { 'x-user': 'ann' }
  expect(none).toBeUndefined()
  expect((await fetch(url, { headers: { accept: 'text/html' } })).status).toBe(401)
  expect([200, 503]).toContain((await fetch(url, { headers: ann })).status)
  expect((await fetch(`${url}/tasks`, { headers: ann })).status).toBe(200)
  const create = { method: 'POST', headers: { ...ann, 'content-type': 'application/json' }, body: '{"name":"x"}' }
  expect((await fetch(`${url}/tasks`, create)).status).toBe(403)
})

it('the HTTP server serves only the routes without the page', async () => {
  const { url } = await serving({ token, page: false })
  expect((await fetch(url, { headers: bearing(token) })).status).toBe(404)
  expect((await fetch(`${url}/session`, { method: 'POST', headers: bearing(token) })).status).toBe(404)
})

it('the HTTP server refuses a token together with authenticate, and serves without a token only on loopback', async () => {
  const engine = await openEngine()
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
    await refusalOf(serve(engine, { token: false, host }), 'FORBIDDEN')
  }
  const { url } = await serving({ token: false })
  expect(await status(`${url}/status`)).toBe(200)
  await refusalOf(serve(engine, { token: 'short' }), 'INVALID_INPUT')
  await refusalOf(serve(engine, { token, authenticate: () => null }), 'INVALID_INPUT')
  const refusal = await refusalOf(serve(engine, { tokn: token } as ServeOptions), 'UNKNOWN_OPTION')
  expect(refusal.message).toContain('"token"')
})

it('the HTTP server rejects with the reason why it cannot listen', async () => {
  const { url } = await serving({ token })
  await expect(serve(await openEngine(), { token, port: Number(new URL(url).port) })).rejects.toThrow(/EADDRINUSE/)
})

it('X-029 one process serves several engines, each by its own HTTP server and separate from the others', async () => {
  const engines = [await openEngine(), await openEngine()]
  const servers = await Promise.all(engines.map((engine) => serving({}, engine)))
  const [first, second] = servers as [ErrandServer, ErrandServer]
  await engines[0]?.create({ name: 'of the first' })
  const names = async ({ url, token }: ErrandServer) => {
    const { tasks } = (await (await fetch(`${url}/tasks`, { headers: bearing(token) })).json()) as {
      tasks: { name: string }[]
    }
    return tasks.map(({ name }) => name)
  }
  expect(await names(first)).toEqual(['of the first'])
  expect(await names(second)).toEqual([])
  expect((await fetch(`${second.url}/tasks`, { headers: bearing(first.token) })).status).toBe(401)
  await first.close()
  await expect(fetch(first.url)).rejects.toThrow('fetch failed')
  expect(await names(second)).toEqual([])
  // Closing the server does not close the engine.
  expect((await engines[0]?.list())?.total).toBe(1)
})

it('the HTTP server ends streams and completes responses in progress when it closes', async () => {
  const begun = deferred()
  const go = deferred()
  const slow = defineAbility({
    id: 'test:slow',
    description: 'Answers when it may.',
    input: z.strictObject({}),
    output: z.string(),
    handle: async () => {
      begun.resolve()
      await go.promise
      return 'done'
    },
  })
  const server = await serving({ token }, await openEngine({ abilities: [slow] }))
  const events = (await fetch(`${server.url}/events`, { headers: bearing(token) })).text()
  const answer = fetch(`${server.url}/abilities/test:slow`, { method: 'POST', headers: bearing(token) })
  await begun.promise
  const closing = server.close()
  await events
  await expect(fetch(server.url)).rejects.toThrow('fetch failed')
  go.resolve()
  expect(await (await answer).json()).toBe('done')
  await closing
})
