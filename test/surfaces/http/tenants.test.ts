// Tenants over HTTP: each has its own engine and ledger. A client of one tenant reaches, sees and uses up nothing of another, and a
// principal without a tenant has no engine.
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Run } from '../../../src/entities/executor.ts'
import {
  createHttp,
  type HttpEngine,
  type HttpOptions,
  type Principal,
  serve,
  type TenantEngines,
} from '../../../src/surfaces/http/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { openEngine, reached, turns } from '../../engine/world.ts'
import { ask, eventsOf, problemIn, type Reply, requestOf, token } from './world.ts'

/** The credentials are the principal itself, as JSON, which this program accepts without a check. */
const authenticate = ({ headers }: Request) => JSON.parse(headers.get('x-principal') ?? 'null') as Principal | null
const bearing = (principal: unknown) => ({ 'x-principal': JSON.stringify(principal) })
const ann: Principal = { tenant: 'acme', scopes: ['admin'], owner: 'ann' }
/** A principal of another tenant with the same name. */
const bob: Principal = { tenant: 'globex', scopes: ['admin'], owner: 'bob' }
const otherAnn: Principal = { ...bob, owner: 'ann' }

async function openTenants({ engineFor, ...options }: Partial<HttpOptions & TenantEngines<HttpEngine>> = {}) {
  const engines = new Map<string, Engine>()
  for (const tenant of ['acme', 'globex']) engines.set(tenant, await openEngine())
  const asked: string[] = []
  const errors: unknown[] = []
  const engineOf = (tenant: string) => {
    asked.push(tenant)
    return engineFor === undefined ? engines.get(tenant) : engineFor(tenant)
  }
  const http = createHttp({ engineFor: engineOf }, { authenticate, onError: (error) => errors.push(error), ...options })
  onTestFinished(() => http.close())
  const as =
    (principal: unknown) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
      ask(http, method, path, body, { ...bearing(principal), ...headers })
  return { engines, http, asked, errors, as }
}

it('V-08 a tenant over HTTP sees and changes its own tasks, and reaches those of another tenant by no route', async () => {
  const { engines, as } = await openTenants()
  const { taskId } = (await as(ann)('POST', '/tasks', { name: 'the merger' })).body
  const asBob = as(bob)
  expect((await asBob('GET', '/tasks')).body).toMatchObject({ tasks: [], total: 0 })
  expect((await asBob('GET', `/tasks?ids=${taskId}`)).body.tasks).toEqual([])
  for (const [method, path, body] of [
    ['GET', `/tasks/${taskId}`],
    ['GET', `/tasks/${taskId}/why`],
    ['GET', `/tasks/${taskId}/machine`],
    ['GET', `/tasks/${taskId}/messages`],
    ['GET', `/tasks/${taskId}/stream`],
    ['PATCH', `/tasks/${taskId}`, { name: 'mine' }],
    ['POST', `/tasks/${taskId}/cancel`, { reason: 'no' }],
    ['POST', `/tasks/${taskId}/claim`, {}],
    ['POST', '/abilities/task:get', { taskId }],
    ['POST', '/abilities/task:create', { name: 'below', parentId: taskId }],
  ] as Array<[string, string, unknown?]>) {
    const { status, body: refused } = await asBob(method, path, body)
    expect([method, path, status]).toEqual([method, path, 404])
    expect(JSON.stringify(refused)).not.toContain('the merger')
  }
  await asBob('DELETE', `/tasks/${taskId}`)
  expect(await engines.get('acme')?.get(taskId)).toMatchObject({ name: 'the merger', status: 'submitted' })
  expect((await engines.get('globex')?.list())?.total).toBe(0)
})

it('V-08 a tenant over HTTP follows its own events from any position, including one of another tenant', async () => {
  const { engines, http } = await openTenants()
  for (const name of ['a', 'b', 'c']) await engines.get('acme')?.create({ name })
  for (const name of ['x', 'y']) await engines.get('globex')?.create({ name })
  const lastId = { 'last-event-id': '1' }
  const stream = eventsOf(await http(requestOf('GET', '/events', undefined, { ...bearing(bob), ...lastId })))
  await engines.get('acme')?.create({ name: 'd' })
  await engines.get('globex')?.create({ name: 'z' })
  const first = (await stream.next())?.data.taskId as string
  const second = (await stream.next())?.data.taskId as string
  await stream.cancel()
  const names = [first, second].map(async (id) => (await engines.get('globex')?.get(id))?.name)
  expect(await Promise.all(names)).toEqual(['y', 'z'])
})

it('V-08 a tenant over HTTP gets no stored response of another tenant under the same Idempotency-Key, and does not conflict with it', async () => {
  const { engines, as } = await openTenants()
  await engines.get('acme')?.create({ name: 'the merger' })
  const key = { 'idempotency-key': 'k' }
  const list = (principal: Principal) => as(principal)('POST', '/abilities/task:list', {}, key)
  expect((await list(ann)).body.total).toBe(1)
  expect((await list(ann)).headers.get('idempotency-replayed')).toBe('true')
  const others = await list(otherAnn)
  expect([others.body.total, others.headers.get('idempotency-replayed')]).toEqual([0, null])
  const create = (principal: Principal, name: string) =>
    as(principal)('POST', '/tasks', { name }, { 'idempotency-key': 'made once' })
  const made = [await create(ann, 'a'), await create(otherAnn, 'b')]
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  expect(made[0]?.body.taskId).not.toBe(made[1]?.body.taskId)
})

it('V-08 V-09 a tenant over HTTP shares limits of requests and streams with no principal of the same name in another tenant', async () => {
  const clock = new SimulatedClock()
  const { as, http } = await openTenants({
    clock,
    rateLimit: { perSecond: 1, burst: 2 },
    maxStreamsPerPrincipal: 1,
  })
  const follow = (principal: Principal) => http(requestOf('GET', '/events?after=0', undefined, bearing(principal)))
  await as(bob)('GET', '/status')
  const [anns, others] = [follow(ann), follow(otherAnn)]
  await turns()
  clock.increment(100)
  expect([(await anns).status, (await others).status]).toEqual([200, 200])
  expect(problemIn(await as(ann)('GET', '/events')).code).toBe('TOO_MANY_STREAMS')
  expect(problemIn(await as(ann)('GET', '/status')).code).toBe('RATE_LIMITED')
  expect((await as(otherAnn)('GET', '/status')).status).toBe(200)
  await Promise.all([(await anns).body?.cancel(), (await others).body?.cancel()])
})

it('a tenant over HTTP gets the OpenAPI document of its own engine', async () => {
  const { engines, as } = await openTenants()
  engines.get('acme')?.bus.register({
    id: 'acme:secret',
    description: 'For acme.',
    access: 'read',
    input: z.object({}),
    output: z.object({}),
    handle: () => ({}),
  })
  const paths = async (principal: Principal) =>
    Object.keys((await as(principal)('GET', '/openapi.json')).body.paths as object)
  expect(await paths(ann)).toContain('/abilities/acme:secret')
  expect(await paths(bob)).not.toContain('/abilities/acme:secret')
  const listed = (await as(bob)('GET', '/abilities')).body.abilities.map(({ id }: { id: string }) => id)
  expect(listed).not.toContain('acme:secret')
  expect((await as(bob)('POST', '/abilities/acme:secret', {})).status).toBe(404)
  expect((await as(ann)('POST', '/abilities/acme:secret', {})).status).toBe(200)
})

it('a tenant over HTTP gets 503 when its engine is closed while others continue, and is served again by a new one', async () => {
  const { engines, as } = await openTenants()
  await engines.get('acme')?.close()
  expect(problemIn(await as(ann)('GET', '/tasks')).code).toBe('ENGINE_CLOSED')
  expect((await as(bob)('GET', '/tasks')).status).toBe(200)
  engines.set('acme', await openEngine())
  expect((await as(ann)('GET', '/tasks')).status).toBe(200)
})

it('V-08 a principal without a tenant reaches no engine over HTTP, not even a default one', async () => {
  const { asked, errors, as } = await openTenants()
  const { tenant: _tenant, ...without } = ann
  const names = ['', ' acme', 'acme/../globex', '../ledgers', 'a'.repeat(65), 'äcme', 7, null, ['acme']]
  for (const principal of [without, ...names.map((tenant) => ({ ...ann, tenant }))]) {
    const { detail, code } = problemIn(await as(principal)('GET', '/tasks'))
    expect([principal, code, detail.includes('tenant')]).toEqual([principal, 'INTERNAL_ERROR', false])
  }
  expect(asked).toEqual([])
  expect(errors).toHaveLength(1 + names.length)
  expect(problemIn(await as(null)('GET', '/tasks')).code).toBe('UNAUTHENTICATED')
})

it('V-08 a principal with a tenant is refused by an HTTP server of a single engine', async () => {
  const errors: unknown[] = []
  const http = createHttp(await openEngine(), { authenticate, onError: (error) => errors.push(error) })
  expect(problemIn(await ask(http, 'GET', '/tasks', undefined, bearing(ann))).code).toBe('INTERNAL_ERROR')
  expect(errors).toHaveLength(1)
})

it('a principal of a tenant that is not served is refused over HTTP without further details', async () => {
  const { as, errors } = await openTenants()
  for (const tenant of ['initech', 'constructor', '__proto__']) {
    const { code, detail } = problemIn(await as({ ...ann, tenant })('GET', '/tasks'))
    expect([code, detail.includes(tenant)]).toEqual(['FORBIDDEN', false])
  }
  expect(errors).toEqual([])
})

it('a principal gets no details over HTTP of an error that opening the engine of its tenant threw', async () => {
  const failures: Array<TenantEngines<HttpEngine>['engineFor']> = [
    () => {
      throw new Error('no such file: /srv/ledgers/acme.db')
    },
    () => Promise.reject(new Error('no such file: /srv/ledgers/acme.db')),
    () => ({}) as HttpEngine,
    () => 'acme.db' as unknown as HttpEngine,
  ]
  for (const engineFor of failures) {
    const { as, errors } = await openTenants({ engineFor })
    const problem = problemIn(await as(ann)('POST', '/tasks', { name: 'a' }))
    expect(problem).toMatchObject({ status: 500, code: 'INTERNAL_ERROR', details: {} })
    expect(problem.detail).not.toMatch(/acme|ledgers|engineFor/)
    expect(errors).toMatchObject([{ cause: expect.any(Error) as Error }])
  }
})

it('tenants over HTTP require authenticate: a token is refused', async () => {
  const engineFor = () => null
  expect(() => createHttp({ engineFor }, { token })).toThrow(/`token` does not/)
  expect(() => createHttp({ engineFor }, { token: false })).toThrow(/`token` does not/)
  expect(() => createHttp({ engineFor: 'acme' as never }, { authenticate })).toThrow(/engineFor/)
  expect(() => createHttp({ engineFor, engine: null } as never, { authenticate })).toThrow(/"engine"/)
  await expect(serve({ engineFor })).rejects.toThrow(/`token` does not/)
})

it('V-08 tenants of one HTTP server do not see each other', async () => {
  const engines = new Map([
    ['acme', await openEngine()],
    ['globex', await openEngine()],
  ])
  await engines.get('acme')?.create({ name: 'the merger' })
  const server = await serve({ engineFor: async (tenant) => engines.get(tenant) }, { authenticate })
  onTestFinished(() => server.close())
  const total = async (principal: Principal) => {
    const response = await fetch(`${server.url}/tasks`, { headers: bearing(principal) })
    return ((await response.json()) as { total: number }).total
  }
  expect([await total(ann), await total(bob)]).toEqual([1, 0])
  expect((await fetch(`${server.url}/tasks`)).status).toBe(401)
  expect([200, 503]).toContain((await fetch(server.url, { headers: bearing(bob) })).status)
})

it('the webhooks of a tenant are taken by a handler of its engine that admits no client, and not by the handler of all tenants', async () => {
  const publicUrl = 'https://tasks.example.org/hooks/acme'
  const work = async (_task: unknown, run: Run) => {
    const hook = await run.webhook()
    await run.progress(0, hook.url)
    return hook.wait()
  }
  const engine = await openEngine({ publicUrl, executors: { work } })
  const { http } = await openTenants({ engineFor: () => engine })
  const hooks = createHttp(engine, { basePath: '/hooks/acme', authenticate: () => null })
  onTestFinished(() => hooks.close())
  const task = await engine.create({ executor: 'work' })
  const { progress } = await reached(engine, task, 'waiting')
  const { pathname } = new URL(progress?.note as string)
  const anonymous = { authorization: '' }
  const other = pathname.slice('/hooks/acme'.length)
  expect(problemIn(await ask(http, 'POST', other, {}, anonymous))).toMatchObject({ status: 404 })
  expect((await ask(hooks, 'GET', '/hooks/acme/tasks', undefined, anonymous)).status).toBe(401)
  expect((await ask(hooks, 'POST', pathname, { amount: 3 }, anonymous)).status).toBe(202)
  expect(await engine.result(task)).toEqual({ amount: 3 })
})

it('the OpenAPI document of a tenant has no webhooks, which its handler does not take', async () => {
  const { as } = await openTenants()
  const { body } = await as(ann)('GET', '/openapi.json')
  expect(body.paths).toHaveProperty(['/tasks'])
  expect(body.paths).not.toHaveProperty(['/signals/{token}'])
})
