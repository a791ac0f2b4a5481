// The request guard of HTTP: which requests are admitted, in which order they are checked, and that hostile ones get no further.
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type Access, accessClasses } from '../../../src/bus/caller.ts'
import { createHttp, type HttpOptions, type Principal } from '../../../src/surfaces/http/index.ts'
import { type Route, routes } from '../../../src/surfaces/http/routes.ts'
import { RateLimit } from '../../../src/surfaces/web/rate-limit.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { deferred } from '../../engine/world.ts'
import { openWorld, problemIn, requestOf, token } from './world.ts'

const noToken = { authorization: '' }
const pathOf = ({ path }: Route) => path.replaceAll(/\{\w+\}/g, '1')
const bodyFor = ({ method }: Route) => (method === 'POST' || method === 'PATCH' ? {} : undefined)

it('X-030 the HTTP request guard refuses requests without the token at every path, known or unknown', async () => {
  const clock = new SimulatedClock()
  const { http, ask } = await openWorld({ clock })
  const asked = [
    ...routes.map((route): [string, string, unknown] => [route.method, pathOf(route), bodyFor(route)]),
    ...['/', '/abilities', '/openapi.json', '/docs', '/nothing'].map((path): [string, string, unknown] => [
      'GET',
      path,
      undefined,
    ]),
    ['POST', '/abilities/task:list', {}] as [string, string, unknown],
    ['PUT', '/tasks', undefined] as [string, string, unknown],
  ]
  for (const headers of [noToken, { authorization: `Bearer ${token}x` }, { authorization: `Basic ${token}` }]) {
    for (const [method, path, body] of asked) {
      // In sequence, since wrong tokens are limited as well.
      clock.increment(3_000)
      const reply = await ask(method, path, body, headers)
      expect([method, path, problemIn(reply).status]).toEqual([method, path, 401])
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  }
  expect((await http(requestOf('GET', '/tasks'))).status).toBe(200)
})

it('the HTTP request guard refuses an unknown Host and an unknown Origin before it checks the token', async () => {
  const { ask } = await openWorld()
  expect((await ask('GET', '/tasks', undefined, { ...noToken, host: 'evil.example' })).status).toBe(403)
  expect((await ask('GET', '/tasks', undefined, { ...noToken, origin: 'https://evil.example' })).status).toBe(403)
  expect(
    (await ask('GET', '/tasks', undefined, { host: 'localhost:8080', origin: 'http://localhost:8080' })).status,
  ).toBe(200)
})

it('the HTTP request guard serves pages of an allowed origin with CORS headers', async () => {
  const { ask, http } = await openWorld({ allowedOrigins: ['https://app.example'] })
  const origin = 'https://app.example'
  const preflight = await http(
    new Request('http://localhost/tasks', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    }),
  )
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
  expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
  for (const headers of [{ origin }, { origin, ...noToken }]) {
    expect((await ask('GET', '/tasks', undefined, headers)).headers.get('access-control-allow-origin')).toBe(origin)
  }
  expect((await ask('GET', '/tasks')).headers.has('access-control-allow-origin')).toBe(false)
})

it('the HTTP request guard reports unknown paths and methods only to authenticated clients: 404, and 405 with the allowed methods', async () => {
  const { ask } = await openWorld()
  expect(problemIn(await ask('GET', '/nothing')).code).toBe('NOT_FOUND')
  const refused = await ask('PUT', '/tasks')
  expect(problemIn(refused).code).toBe('METHOD_NOT_ALLOWED')
  expect(refused.headers.get('allow')).toBe('POST, GET')
  expect((await ask('DELETE', '/abilities/task:list')).headers.get('allow')).toBe('POST')
  expect((await ask('HEAD', '/tasks')).status).toBe(200)
})

it('the HTTP request guard validates content type, then size, then JSON, then the fields of a body', async () => {
  const { ask } = await openWorld({ bodyLimitBytes: 1000 })
  const huge = `{"name":"${'x'.repeat(2000)}"`
  const status = async (body: string, headers: Record<string, string> = {}) =>
    problemIn(await ask('POST', '/tasks', body, headers)).status
  expect(await status(huge, { 'content-type': 'text/plain' })).toBe(415)
  expect(await status('{"name":"a"}', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415)
  expect(await status('{"name":"a"}', { 'content-encoding': 'gzip' })).toBe(415)
  expect(await status(huge)).toBe(413)
  expect(await status('{"name":')).toBe(400)
  expect(await status(`${'['.repeat(400)}${']'.repeat(400)}`)).toBe(400)
  expect(await status('{"nme":"a"}')).toBe(400)
  expect(await status('[]')).toBe(400)
  const compressed = problemIn(await ask('POST', '/tasks', '{"name":"a"}', { 'content-encoding': 'br' }))
  expect(compressed.detail).toBe('The body is encoded (Content-Encoding: br). Send it without encoding.')
  const identity = { 'content-encoding': 'identity' }
  expect((await ask('POST', '/tasks', '{"name":"a"}', identity)).status).toBe(201)
})

it('the HTTP request guard accepts a request without a body as one without fields, and refuses a body of an unknown type', async () => {
  const { ask, http, engine } = await openWorld()
  const { id } = await engine.create({ name: 'a' })
  expect((await ask('POST', `/tasks/${id}/start`)).status).toBe(200)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"reason":"x"}'))
      controller.close()
    },
  })
  const request = new Request(`http://localhost/tasks/${id}/pause`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
    duplex: 'half',
  } as RequestInit)
  expect((await http(request)).status).toBe(415)
  expect((await engine.get(id))?.status).toBe('working')
})

it('the HTTP request guard stops reading a body at its size limit', async () => {
  const { http } = await openWorld()
  let given = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      given += 64 * 1024
      if (given > 10 * 1024 * 1024) controller.close()
      else controller.enqueue(new Uint8Array(64 * 1024).fill(32))
    },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await http(
    new Request('http://localhost/tasks', { method: 'POST', headers, body, duplex: 'half' } as RequestInit),
  )
  expect(response.status).toBe(413)
  expect(given).toBeLessThan(2 * 1024 * 1024)
})

it('X-037 the HTTP request guard refuses unknown keys, NUL, lone surrogates and integers that lose digits anywhere in a body', async () => {
  const { ask, engine } = await openWorld()
  const code = async (method: string, path: string, body?: string) => problemIn(await ask(method, path, body)).code
  for (const body of [
    '{"__proto__":{"x":1},"name":"a"}',
    '{"name":"a","metadata":{"n":9007199254740993}}',
    '{"name":"a\\u0000"}',
    '{"name":"\\ud800"}',
  ]) {
    expect(await code('POST', '/tasks', body)).toBe('INVALID_INPUT')
  }
  expect(await code('GET', '/tasks?__proto__=1')).toBe('INVALID_INPUT')
  expect(await code('GET', '/tasks?constructor=1')).toBe('INVALID_INPUT')
  expect(await code('GET', '/tasks/%00')).toBe('INVALID_INPUT')
  expect(({} as { x?: number }).x).toBeUndefined()
  expect((await engine.list({})).total).toBe(0)
})

it('the HTTP request guard accepts at most a thousand keys in one object at any depth, and lists of any length', async () => {
  const { ask, engine } = await openWorld()
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
  const create = async (metadata: unknown) => ask('POST', '/tasks', { name: 'a', metadata })
  expect((await create(keys(1_000))).status).toBe(201)
  expect((await create({ list: Array.from({ length: 100_000 }, () => ({})) })).status).toBe(201)
  for (const metadata of [keys(1_001), { deep: [{ deeper: keys(1_001) }] }]) {
    const problem = problemIn(await create(metadata))
    expect(problem).toMatchObject({ status: 400, code: 'INVALID_INPUT' })
    expect(problem.detail).toContain('more than 1000 keys')
  }
  expect((await engine.list({})).total).toBe(2)
})

it('the HTTP handler decodes an escaped slash in a path as part of a name', async () => {
  const { ask } = await openWorld()
  for (const path of ['/tasks/..%2f', '/tasks/%2e%2e%2fabilities', '/tasks/%E0%A4%A', `/tasks/${'x'.repeat(3000)}`]) {
    expect([400, 404]).toContain(problemIn(await ask('GET', path)).status)
  }
  expect(problemIn(await ask('GET', '/tasks//why')).code).toBe('NOT_FOUND')
  expect(problemIn(await ask('GET', '/TASKS')).code).toBe('NOT_FOUND')
})

it('the HTTP handler serves routes below its base path, whether or not the server in front has removed it', async () => {
  const { ask, http } = await openWorld({ basePath: '/errand' })
  for (const path of ['/errand/tasks', '/tasks']) {
    const { status, headers, body } = await ask('POST', path, { name: 'a' })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/errand/tasks/${body.taskId}`)
  }
  expect((await ask('GET', '/errandtasks')).status).toBe(404)
  expect(http.openapi().servers).toEqual([{ url: '/errand' }])
})

it('the HTTP handler refuses unknown options, and neither a token nor `token: false`', async () => {
  const { engine } = await openWorld()
  expect(() => createHttp(engine, { token, basepath: '/x' } as never)).toThrow(/Did you mean "basePath"/)
  expect(() => createHttp(engine, {})).toThrow(/exactly one of `token` and `authenticate`/)
  expect(() => createHttp(engine, { token, authenticate: () => null })).toThrow(/exactly one/)
  expect(() => createHttp(engine, { token: 'short' })).toThrow(/32/)
  expect(() => createHttp(engine, { token, basePath: 'errand/' })).toThrow(/basePath/)
})

it('the HTTP handler answers 503 after it is closed', async () => {
  const { ask, http } = await openWorld()
  await http.close()
  const reply = await ask('GET', '/tasks')
  expect(problemIn(reply)).toMatchObject({ status: 503, code: 'ENGINE_CLOSED' })
  expect(reply.headers.get('retry-after')).toBe('5')
})

it('the HTTP handler opens no stream for a request that was admitted before it was closed', async () => {
  const [asked, known] = [deferred(), deferred()]
  const { http, ask } = await openWorld({
    authenticate: async () => {
      asked.resolve()
      await known.promise
      return { scopes: ['read'] }
    },
  })
  const late = ask('GET', '/events')
  await asked.promise
  await http.close()
  known.resolve()
  expect(problemIn(await late)).toMatchObject({ status: 503, code: 'ENGINE_CLOSED' })
})

const as = (principal: unknown) => openWorld({ authenticate: () => principal as Principal | null })

it('HTTP principals may do what their scopes include, and nothing else', async () => {
  const expected: Record<string, number[]> = {
    read: [200, 200, 403, 403, 403],
    create: [403, 403, 201, 403, 403],
    control: [403, 403, 403, 200, 403],
    admin: [200, 200, 201, 200, 400],
  }
  for (const [scope, statuses] of Object.entries(expected)) {
    const { ask, engine } = await as({ scopes: [scope] })
    const { id } = await engine.create({ name: 'a' })
    const replies = [
      await ask('GET', `/tasks/${id}`),
      await ask('POST', '/abilities/objective:log', { taskId: id }),
      await ask('POST', '/tasks', { name: 'b' }),
      await ask('POST', `/tasks/${id}/start`),
      await ask('POST', '/abilities/model:register', {}),
    ]
    expect([scope, ...replies.map(({ status }) => status)]).toEqual([scope, ...statuses])
  }
  const { ask } = await as({ scopes: [] })
  expect(problemIn(await ask('GET', '/tasks')).code).toBe('FORBIDDEN')
  expect((await ask('GET', '/abilities')).body.abilities).toEqual([])
})

it('HTTP principals may use a route if they have the scope of its ability, and not otherwise', async () => {
  let scope: Access = 'read'
  const authenticate = async () => ({ scopes: [scope] })
  const { http, engine } = await openWorld({ rateLimit: false, authenticate }, { plans: { root: tmpdir() } })
  const refused: Array<[string, string]> = []
  for (scope of accessClasses) {
    for (const route of routes) {
      const access = engine.bus.get(route.ability)?.access
      const { status, body } = await http(requestOf(route.method, pathOf(route), bodyFor(route)))
      await body?.cancel()
      const isIn = scope === 'admin' || scope === access
      if ((status === 403) === isIn) refused.push([scope, `${route.method} ${route.path}`])
    }
  }
  expect(refused).toEqual([])
})

it('HTTP principals with a task may see and create below that task only', async () => {
  let taskId = ''
  const { engine, ask } = await openWorld({
    authenticate: () => ({ scopes: ['read', 'create', 'control'], taskId }),
  })
  const own = await engine.create({ name: 'own' })
  const other = await engine.create({ name: 'other' })
  taskId = own.id
  expect((await ask('GET', `/tasks/${own.id}`)).status).toBe(200)
  expect(problemIn(await ask('GET', `/tasks/${other.id}`)).code).toBe('FORBIDDEN')
  expect(problemIn(await ask('POST', `/tasks/${other.id}/cancel`, { reason: 'no' })).code).toBe('FORBIDDEN')
  expect((await engine.get(other.id))?.status).toBe('submitted')
  expect(problemIn(await ask('GET', '/events')).code).toBe('FORBIDDEN')
  expect((await ask('GET', '/tasks')).body.tasks).toEqual([])
})

it('HTTP principals may call only the abilities of their list', async () => {
  const { ask } = await as({ scopes: ['admin'], abilities: ['task:list', 'engine:*'] })
  expect((await ask('GET', '/tasks')).status).toBe(200)
  expect((await ask('GET', '/status')).status).toBe(200)
  expect((await ask('POST', '/tasks', { name: 'a' })).status).toBe(403)
  const listed = (await ask('GET', '/abilities')).body.abilities.map(({ id }: { id: string }) => id)
  expect(listed).toContain('task:list')
  expect(listed).not.toContain('task:create')
})

it('HTTP principals are never derived from an invalid result of authenticate: 500, reported to onError, and nothing is done', async () => {
  const wrong = [undefined, true, 'admin', { scopes: ['root'] }, { scopes: ['read'], taskID: 'x' }, { owner: 'ann' }]
  for (const given of wrong) {
    const { ask, engine, errors } = await as(given)
    const { detail, code } = problemIn(await ask('POST', '/tasks', { name: 'a' }))
    expect([code, detail.includes('authenticate')]).toEqual(['INTERNAL_ERROR', false])
    expect(errors).toHaveLength(1)
    expect((await engine.list({})).total).toBe(0)
  }
})

it('HTTP principals are unknown if authenticate throws: 500, whatever it threw', async () => {
  for (const thrown of [new Error('no database at 10.0.0.1'), 'text', undefined]) {
    const { ask, errors } = await openWorld({
      authenticate: () => {
        throw thrown
      },
    })
    expect(problemIn(await ask('GET', '/tasks')).detail).not.toContain('10.0.0.1')
    expect(errors).toMatchObject([{ cause: thrown }])
  }
})

it('HTTP principals are answered with 401 if authenticate returns null', async () => {
  const { ask } = await as(null)
  expect(problemIn(await ask('GET', '/tasks')).code).toBe('UNAUTHENTICATED')
})

it('the rate limit of HTTP requests applies to each principal separately, and recovers with time', async () => {
  const clock = new SimulatedClock()
  const { ask } = await openWorld({
    clock,
    rateLimit: { perSecond: 2, burst: 3 },
    authenticate: ({ headers }) => ({ scopes: ['read'], owner: headers.get('x-name') as string }),
  })
  const statusFor = async (name: string) => (await ask('GET', '/tasks', undefined, { 'x-name': name })).status
  for (let sent = 0; sent < 3; sent++) expect(await statusFor('ann')).toBe(200)
  const refused = await ask('GET', '/nothing', undefined, { 'x-name': 'ann' })
  expect(problemIn(refused).code).toBe('RATE_LIMITED')
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await statusFor('bob')).toBe(200)
  clock.increment(500)
  expect(await statusFor('ann')).toBe(200)
  expect(await statusFor('ann')).toBe(429)
})

it('the rate limit of HTTP requests applies to each address for principals without a name, and not at all when it is switched off', async () => {
  const limited = await openWorld({ rateLimit: { perSecond: 1, burst: 1 }, clock: new SimulatedClock() })
  const statusFrom = async (address: string) => (await limited.http(requestOf('GET', '/tasks'), { address })).status
  expect([await statusFrom('a'), await statusFrom('a'), await statusFrom('b')]).toEqual([200, 429, 200])
  const free = await openWorld({ rateLimit: false })
  for (let sent = 0; sent < 250; sent++) expect((await free.ask('GET', '/status')).status).toBe(200)
})

it('V-09 concurrent HTTP requests of one principal are limited without affecting other principals', async () => {
  const { engine, ask } = await openWorld({
    maxRequestsPerPrincipal: 2,
    authenticate: ({ headers }) => ({ scopes: ['admin'], owner: headers.get('x-name') as string }),
  })
  const [begun, go] = [[deferred(), deferred()], deferred()]
  let count = 0
  engine.bus.register({
    id: 'test:slow',
    description: 'Answers when it may.',
    input: z.object({}),
    output: z.string(),
    handle: async () => {
      begun[count++]?.resolve()
      await go.promise
      return 'done'
    },
  })
  const ann = { 'x-name': 'ann' }
  const slow = begun.map(() => ask('POST', '/abilities/test:slow', {}, ann))
  await Promise.all(begun.map(({ promise }) => promise))
  const refused = await ask('GET', '/status', undefined, ann)
  expect(problemIn(refused)).toMatchObject({ code: 'RATE_LIMITED', details: { maxRequestsPerPrincipal: 2 } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await ask('GET', '/status', undefined, { 'x-name': 'bob' })).status).toBe(200)
  go.resolve()
  expect((await Promise.all(slow)).map(({ body }) => body)).toEqual(['done', 'done'])
  expect((await ask('GET', '/status', undefined, ann)).status).toBe(200)
})

const wrong = `Bearer ${token}x`

async function open(options: Partial<HttpOptions> = {}) {
  const clock = new SimulatedClock()
  const { http } = await openWorld({ clock, rateLimit: false, ...options })
  const answer = async (address: string, credentials: string, header = 'authorization') => {
    const request = requestOf('GET', '/status', undefined, { authorization: '', [header]: credentials })
    const { status, headers } = await http(request, { address })
    return [status, headers.get('retry-after')]
  }
  return { clock, answer }
}

it('V-09 invalid HTTP credentials are answered with 429 after too many from one address; valid ones and other addresses are not', async () => {
  const { clock, answer } = await open()
  const answers = []
  for (let count = 0; count < 30; count++) answers.push(await answer('192.0.2.1', wrong))
  expect(answers.slice(0, 20)).toEqual(Array(20).fill([401, null]))
  expect(answers.slice(20)).toEqual(Array(10).fill([429, '3']))
  expect(await answer('192.0.2.1', `Bearer ${token}`)).toEqual([200, null])
  expect(await answer('192.0.2.2', wrong)).toEqual([401, null])
  // A request without a token does not count as a wrong token.
  expect(await answer('192.0.2.1', '')).toEqual([401, null])
  clock.increment(3_000)
  expect(await answer('192.0.2.1', wrong)).toEqual([401, null])
  expect(await answer('192.0.2.1', wrong)).toEqual([429, '3'])
})

it.each(['authorization', 'x-key'])(
  'V-09 invalid HTTP credentials are counted for a custom authenticate, too: %s',
  async (header) => {
    const { answer } = await open({
      authenticate: ({ headers }) => (headers.get(header) === 'ann' ? { scopes: ['read'] } : null),
    })
    for (let count = 0; count < 20; count++) expect(await answer('192.0.2.1', 'bob', header)).toEqual([401, null])
    expect(await answer('192.0.2.1', 'bob', header)).toEqual([429, '3'])
    expect(await answer('192.0.2.1', 'ann', header)).toEqual([200, null])
  },
)

it('V-09 invalid HTTP credentials are remembered for a limited number of addresses', () => {
  const limit = new RateLimit({ perSecond: 1, burst: 1 }, new SimulatedClock())
  expect([limit.draw('first'), limit.draw('first')]).toEqual([0, 1])
  for (let count = 0; count < 9_999; count++) limit.draw(`other ${count}`)
  expect(limit.draw('first')).toBe(1)
  for (let count = 0; count < 10_000; count++) limit.draw(`another ${count}`)
  expect(limit.draw('first')).toBe(0)
})
