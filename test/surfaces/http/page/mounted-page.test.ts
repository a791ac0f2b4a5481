// The page beside the routes of a handler that other servers mount below a path: who gets it, and where its files and its sign-in are.
import { serve as serveHono } from '@hono/node-server'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type HttpHandler, toNodeListener } from '../../../../src/surfaces/http/index.ts'
import { listenWithExpress } from '../express-app.ts'
import { openWorld, token } from '../world.ts'

const bearer = { authorization: `Bearer ${token}` }
const browser = { accept: 'text/html,application/xhtml+xml' }

/** Each mounts a handler below `/errand` beside a route of its own, and resolves to its address. */
const frameworks: Record<string, (http: HttpHandler) => Promise<string>> = {
  Express: (http) => listenWithExpress('/errand', toNodeListener(http.fetch, console.error)),
  async Fastify(http) {
    const listener = toNodeListener(http.fetch, console.error)
    const app = fastify()
    onTestFinished(() => app.close())
    app.get('/', () => 'mine')
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      for (const path of ['/errand', '/errand/*']) {
        scope.all(path, (request, reply) => {
          reply.hijack()
          listener(request.raw, reply.raw)
        })
      }
    })
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
  Hono(http) {
    const app = new Hono()
    app.get('/', (context) => context.text('mine'))
    app.mount('/errand', http.fetch)
    return new Promise((resolve) => {
      const server = serveHono({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      )
      onTestFinished(() => void server.close())
    })
  },
}

describe.each(Object.entries(frameworks))('the page of a handler in %s', (_name, mount) => {
  it('signs in below the path at which it is mounted, and loads its files from there', async () => {
    const { http, errors } = await openWorld({ basePath: '/errand', page: true })
    const url = await mount(http)
    expect(await (await fetch(`${url}/`)).text()).toBe('mine')
    const signIn = await fetch(`${url}/errand`, { headers: browser })
    expect([signIn.status, await signIn.text()]).toEqual([401, expect.stringContaining("fetch('/errand/session'")])
    expect((await fetch(`${url}/errand/session`, { method: 'POST' })).status).toBe(401)
    const session = await fetch(`${url}/errand/session`, { method: 'POST', headers: bearer })
    expect([session.status, session.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringMatching(/^errand-page-\d+=[\w-]{43}; Path=\/errand; HttpOnly; SameSite=Strict$/),
    ])
    const cookie = { cookie: session.headers.get('set-cookie')?.split(';')[0] as string }
    for (const path of ['/errand', '/errand/']) {
      const page = await fetch(url + path, { headers: { ...browser, ...cookie } })
      const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string)
      expect(files.length).toBeGreaterThan(2)
      expect(files.filter((file) => !file.startsWith('/errand/assets/'))).toEqual([])
      for (const file of files) expect((await fetch(url + file, { headers: cookie })).status).toBe(200)
      expect((await fetch(url + files[0], { headers: {} })).status).toBe(401)
    }
    expect((await fetch(`${url}/errand/docs`, { headers: { ...browser, ...cookie } })).status).toBe(200)
    expect((await fetch(`${url}/errand/tasks`, { headers: cookie })).status).toBe(401)
    expect((await fetch(`${url}/errand/tasks`, { headers: bearer })).status).toBe(200)
    expect(errors).toEqual([])
  })

  it('is there at once for a client that `authenticate` knows by a cookie of the application', async () => {
    const authenticate = (request: Request) =>
      request.headers.get('cookie') === 'user=ann' ? { owner: 'ann', scopes: ['read'] as const } : null
    const { http } = await openWorld({ basePath: '/errand', page: true, authenticate })
    const url = await mount(http)
    const ann = { cookie: 'user=ann' }
    expect((await fetch(`${url}/errand/`, { headers: { ...browser, ...ann } })).status).toBe(200)
    expect((await fetch(`${url}/errand/tasks`, { headers: ann })).status).toBe(200)
    expect((await fetch(`${url}/errand/`, { headers: { ...browser, cookie: 'user=eve' } })).status).toBe(401)
  })
})

it('a handler without the option has no page, one without a token shows it to every client, and a closed one shows none', async () => {
  const without = await openWorld({ basePath: '/errand' })
  expect((await without.ask('GET', '/errand/')).status).toBe(404)
  const open = await openWorld({ token: false, page: true })
  expect((await open.http(new Request('http://localhost/', { headers: browser }))).status).toBe(200)
  expect((await open.http(new Request('http://evil.example/', { headers: browser }))).status).toBe(403)
  await open.http.close()
  expect((await open.http(new Request('http://localhost/', { headers: browser }))).status).toBe(503)
})
