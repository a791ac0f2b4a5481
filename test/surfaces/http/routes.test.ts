// The HTTP routes: the ability of each, the sources of its input, versions, idempotency keys, and how refusals are answered.
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { statusOfCode } from '../../../src/core/error-codes.ts'
import { ErrandError, Failure } from '../../../src/core/errors.ts'
import { defineExecutor, type Engine } from '../../../src/index.ts'
import { pathNames, type Route, routes } from '../../../src/surfaces/http/routes.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { deferred } from '../../engine/world.ts'
import { openWorld, problemIn, requestOf, serve, type World } from './world.ts'

async function withTask(world: World, name = 'a') {
  const { id } = await world.engine.create({ name })
  return id
}

const complaintsAbout = (table: readonly Route[], { bus }: Engine) =>
  table.flatMap(({ method, path, ability: id, streams = false }) => {
    const ability = bus.get(id)
    if (ability === undefined) return [`${method} ${path}: there is no ${id}`]
    const fields = Object.keys((ability.inputSchema['properties'] ?? {}) as object)
    const strange = pathNames(path).filter((name) => !fields.includes(name))
    return [
      ...strange.map((name) => `${method} ${path}: ${id} takes no ${name}`),
      ...(ability.isStream === streams ? [] : [`${method} ${path}: ${id} ${streams ? 'is no' : 'is a'} stream`]),
    ]
  })

it('the table of HTTP routes contains only abilities that every engine has, and fields of their inputs in its paths', async () => {
  const { engine } = await openWorld({}, { plans: { root: tmpdir() } })
  expect(complaintsAbout(routes, engine)).toEqual([])
})

it('the check of the table of HTTP routes finds a planted fault', async () => {
  const { engine } = await openWorld()
  const base: Route = {
    method: 'GET',
    path: '/x',
    ability: 'task:get',
    operationId: 'x',
    tag: 'Tasks',
    summary: 'x',
  }
  const faulty = [
    { ...base, ability: 'task:gte' },
    { ...base, path: '/x/{id}' },
    { ...base, streams: true as const },
    { ...base, ability: 'task:stream' },
  ]
  expect(complaintsAbout(faulty, engine)).toEqual([
    'GET /x: there is no task:gte',
    'GET /x/{id}: task:get takes no id',
    'GET /x: task:get is no stream',
    'GET /x: task:stream is a stream',
  ])
})

it('the table of HTTP routes has each method of a path once, and a unique operation id for each', () => {
  const places = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(new Set(places).size).toBe(places.length)
  expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length)
})

it('every ability of the bus has a route at /abilities/{id}, including those registered later', async () => {
  const { ask, engine } = await openWorld()
  engine.bus.register({
    id: 'notes:add',
    description: 'Keep a note.',
    input: z.strictObject({ text: z.string() }),
    output: z.object({ length: z.number() }),
    handle: ({ text }) => ({ length: text.length }),
  })
  const { abilities } = (await ask('GET', '/abilities')).body
  expect(abilities.map(({ id }: { id: string }) => id)).toEqual(engine.bus.abilities().map(({ id }) => id))
  expect(await ask('POST', '/abilities/notes:add', { text: 'abc' })).toMatchObject({
    status: 200,
    body: { length: 3 },
  })
  for (const { id } of engine.bus.abilities()) {
    const reply = await ask('POST', `/abilities/${id}`, { noSuchField: 1 })
    expect([id, reply.status === 404]).toEqual([id, false])
  }
  const unknown = problemIn(await ask('POST', '/abilities/task:creat', {}))
  expect(unknown).toMatchObject({ status: 404, code: 'NOT_FOUND', details: { nearest: 'task:create' } })
})

it('an HTTP route answers 404 if the engine does not offer its ability', async () => {
  const { ask, http } = await openWorld({}, { memory: false })
  const refused = problemIn(await ask('POST', '/tasks/x/consolidate', { level: 'task' }))
  expect(refused).toMatchObject({ code: 'NOT_FOUND' })
  expect(refused.detail).toContain('mem:consolidate')
  expect(http.openapi().paths).not.toHaveProperty('/tasks/{taskId}/consolidate')
})

it('the input of an HTTP request is refused for an unknown or invalid parameter, which the answer names', async () => {
  const { ask } = await openWorld()
  const refused = async (path: string) => problemIn(await ask('GET', path))
  expect((await refused('/tasks?limt=3')).detail).toMatch(/limt.*Did you mean "limit"/)
  expect((await refused('/tasks?limit=many')).detail).toMatch(/limit/)
  expect((await refused('/tasks?limit=3&limit=4')).detail).toMatch(/limit/)
  expect((await refused('/tasks?status=resting')).detail).toMatch(/status/)
  expect((await refused('/events/list?before=1.5')).detail).toMatch(/before/)
  expect(await refused('/events?after=-1')).toMatchObject({ status: 400 })
  expect(problemIn(await ask('POST', '/tasks?name=a', { name: 'a' })).detail).toMatch(/name.*body/)
})

it('the input of an HTTP request takes path parameters only from the path', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const { ask } = world
  expect((await ask('POST', `/tasks/${id}/start`, { taskId: id })).status).toBe(200)
  expect(problemIn(await ask('POST', `/tasks/${id}/pause`, { taskId: 'other' })).detail).toMatch(/taskId.*path/)
  expect(problemIn(await ask('POST', `/tasks/${id}/pause`, { task_id: 'other' })).detail).toMatch(/task_id.*path/)
})

it('HTTP routes drive a task through start, pause, resume, patch, fail, retry and delete', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const { ask, engine } = world
  for (const [verb, status] of [
    ['start', 'working'],
    ['pause', 'paused'],
    ['resume', 'working'],
  ] as const) {
    const { body, headers } = await ask('POST', `/tasks/${id}/${verb}`)
    expect(body.status).toBe(status)
    expect(headers.get('etag')).toBe(`"${body.version}"`)
  }
  expect((await ask('PATCH', `/tasks/${id}`, { priority: 7, tags: ['x'] })).status).toBe(200)
  expect(await engine.get(id)).toMatchObject({ priority: 7, tags: ['x'] })
  expect((await ask('POST', `/tasks/${id}/fail`, { reason: 'broke' })).body.status).toBe('failed')
  expect((await ask('POST', `/tasks/${id}/retry`)).body.status).toBe('submitted')
  expect((await ask('DELETE', `/tasks/${id}?children=cascade`)).body).toEqual({ deleted: true })
  expect((await ask('GET', `/tasks/${id}`)).status).toBe(404)
})

it('X-030 POST /send sends a message to the task named in the body, like the route of the task', async () => {
  const world = await openWorld()
  const { ask, engine } = world
  const id = await withTask(world)
  await engine.start(id)
  await engine.pause(id)
  for (const [path, body] of [
    ['/send', { taskId: id, message: 'one' }],
    [`/tasks/${id}/messages`, { message: 'two' }],
  ] as const) {
    expect((await ask('POST', path, body)).body).toMatchObject({ taskId: id, status: 'paused' })
  }
  const { messages } = (await ask('GET', `/tasks/${id}/messages`)).body
  expect(messages.slice(-2).map(({ content }: { content: string }) => content)).toEqual(['one', 'two'])
  expect(problemIn(await ask('POST', '/send', { message: 'x' })).detail).toMatch(/taskId/)
})

it('X-032 sending to or canceling a task that has ended is answered with 409 over HTTP', async () => {
  const world = await openWorld()
  const { ask } = world
  const id = await withTask(world)
  const canceled = await ask('POST', `/tasks/${id}/cancel`, { reason: 'no longer needed' })
  expect(canceled.body).toMatchObject({
    taskId: id,
    status: 'canceled',
    statusReason: 'no longer needed',
    ready: false,
  })
  expect(canceled.headers.get('etag')).toBe(`"${canceled.body.version}"`)
  for (const [path, body] of [
    ['/send', { taskId: id, message: 'one' }],
    [`/tasks/${id}/messages`, { message: 'two' }],
    [`/tasks/${id}/cancel`, {}],
  ] as const) {
    expect(problemIn(await ask('POST', path, body))).toMatchObject({ status: 409, code: 'INVALID_TRANSITION' })
  }
})

it('HTTP routes answer 503 after the engine is closed', async () => {
  const { ask, engine } = await openWorld()
  await engine.close()
  for (const path of ['/tasks', '/status', '/events', '/tasks/x']) {
    expect([path, problemIn(await ask('GET', path)).code]).toEqual([path, 'ENGINE_CLOSED'])
  }
})

it('HTTP routes read a task with its runs, calls, messages, events and reason', async () => {
  const world = await openWorld(
    {},
    { executors: { echo: defineExecutor({ run: async (_task, run) => run.call('look', {}, async () => 1) }) } },
  )
  const { ask, engine } = world
  const { id } = await engine.create({ executor: 'echo' })
  await engine.settled(id)
  expect((await ask('GET', `/tasks/${id}/runs`)).body.runs).toHaveLength(1)
  expect((await ask('GET', `/tasks/${id}/calls`)).body.calls).toMatchObject([{ name: 'look' }])
  expect((await ask('GET', `/tasks/${id}/why`)).status).toBe(200)
  expect((await ask('GET', `/tasks/${id}/messages`)).status).toBe(200)
  expect(
    (await ask('GET', `/tasks/${id}/events?limit=2`)).body.events.map(({ type }: { type: string }) => type),
  ).toContain('task.created')
  expect((await ask('GET', '/status')).body.tasks.completed).toBe(1)
  expect((await ask('GET', `/events/list?taskId=${id}&before=100000&limit=1`)).body.events).toHaveLength(1)
})

it('If-Match admits a change of the version that was read, and refuses it after another write', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const { ask } = world
  const etag = (await ask('GET', `/tasks/${id}`)).headers.get('etag') as string
  expect((await ask('PATCH', `/tasks/${id}`, { priority: 1 }, { 'if-match': etag })).status).toBe(200)
  for (const [method, path, body] of [
    ['PATCH', `/tasks/${id}`, { priority: 2 }],
    ['POST', `/tasks/${id}/start`, {}],
    ['DELETE', `/tasks/${id}`, undefined],
  ] as const) {
    const refused = problemIn(await ask(method, path, body, { 'if-match': etag }))
    expect(refused).toMatchObject({ status: 412, code: 'VERSION_CONFLICT' })
  }
  expect((await world.engine.get(id))?.priority).toBe(1)
  expect((await ask('POST', `/tasks/${id}/start`, {}, { 'if-match': '*' })).status).toBe(200)
})

it('the ETag of a change is the version that the next change can pass as If-Match', async () => {
  const { ask } = await openWorld()
  const id = (await ask('POST', '/tasks', { name: 'by hand' })).body.taskId as string
  const claim = { owner: 'ann', leaseMs: 60_000 }
  let fence: number | undefined
  for (const [verb, body] of [
    ['claim', () => claim],
    ['heartbeat', () => ({ owner: 'ann', fence })],
    ['release', () => ({ owner: 'ann', fence })],
    ['claim', () => claim],
    ['fail', () => ({ owner: 'ann', fence, reason: 'no' })],
  ] as const) {
    const reply = await ask('POST', `/tasks/${id}/${verb}`, body())
    fence = reply.body.task?.fence ?? fence
    expect([verb, reply.headers.get('etag')]).toEqual([verb, (await ask('GET', `/tasks/${id}`)).headers.get('etag')])
  }
})

it('ETags are in every response that the OpenAPI document describes with one', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const { paths } = world.http.openapi() as any
  for (const view of ['', '/why', '/context', '/runs', '/messages']) {
    const described = paths[`/tasks/{taskId}${view}`].get.responses['200'].headers?.ETag !== undefined
    const { headers } = await world.ask('GET', `/tasks/${id}${view}`)
    expect([view, headers.has('etag')]).toEqual([view, described])
  }
})

it('a version in the body of an HTTP DELETE is refused with the body', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  expect(problemIn(await world.ask('DELETE', `/tasks/${id}`, { expectedVersion: 99 }))).toMatchObject({
    status: 400,
    code: 'INVALID_INPUT',
  })
  expect(await world.engine.get(id)).not.toBeNull()
  expect((await world.ask('DELETE', `/tasks/${id}?expectedVersion=99`)).status).toBe(412)
  expect((await world.ask('DELETE', `/tasks/${id}`, '')).status).toBe(200)
})

it('an invalid If-Match, or one on a route without versions, is refused', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  for (const given of ['3', 'W/"3"', '"3", "4"', '"x"', '""']) {
    expect(problemIn(await world.ask('PATCH', `/tasks/${id}`, { priority: 1 }, { 'if-match': given })).status).toBe(400)
  }
  expect(problemIn(await world.ask('POST', '/tasks', { name: 'a' }, { 'if-match': '"3"' })).detail).toMatch(/If-Match/)
  const both = await world.ask('PATCH', `/tasks/${id}`, { expectedVersion: 1 }, { 'if-match': '"2"' })
  expect(problemIn(both).detail).toMatch(/`expectedVersion` differs from the value in the header If-Match/)
  expect(both.status).toBe(400)
})

const key = { 'idempotency-key': 'order 66' }

it('Idempotency-Key creates a task once, permanently: in parallel, repeatedly, and by another server', async () => {
  const { ask, engine } = await openWorld()
  const body = { name: 'a', input: { n: 1 } }
  const replies = await Promise.all(Array.from({ length: 5 }, () => ask('POST', '/tasks', body, key)))
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
  replies.push(await serve(engine).ask('POST', '/tasks', body, key))
  expect(new Set(replies.map((reply) => reply.body.taskId)).size).toBe(1)
  expect((await engine.list({})).total).toBe(1)
  const other = problemIn(await ask('POST', '/tasks', { ...body, input: { n: 2 } }, key))
  expect(other).toMatchObject({ status: 422, code: 'KEY_CONFLICT' })
  expect(problemIn(await ask('POST', '/tasks', { ...body, key: 'k' }, key)).status).toBe(400)
})

it('Idempotency-Key repeats the first response of any other request, refusals included, and marks it as replayed', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const { ask } = world
  const first = await ask('POST', `/tasks/${id}/start`, {}, key)
  await ask('POST', `/tasks/${id}/pause`)
  const again = await ask('POST', `/tasks/${id}/start`, {}, key)
  expect(again).toMatchObject({ status: 200, body: first.body })
  expect([first.headers.has('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
    false,
    'true',
  ])
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
  const refused = await ask('POST', `/tasks/${id}/start`, {}, { 'idempotency-key': 'two' })
  await ask('POST', `/tasks/${id}/resume`)
  expect(refused.status).toBe(409)
  expect((await ask('POST', `/tasks/${id}/start`, {}, { 'idempotency-key': 'two' })).body).toEqual(refused.body)
  expect(problemIn(await ask('POST', `/tasks/${id}/pause`, {}, key))).toMatchObject({
    status: 422,
    code: 'KEY_CONFLICT',
  })
  expect(problemIn(await ask('POST', `/tasks/${id}/start`, { expectedVersion: 1 }, key)).status).toBe(422)
})

it('Idempotency-Key refuses a repeated request while the first is in progress, and runs it if the first has failed', async () => {
  const { ask, engine } = await openWorld()
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  let calls = 0
  engine.bus.register({
    id: 'slow:work',
    description: 'Takes its time.',
    input: z.object({}),
    output: z.object({}),
    async handle() {
      calls += 1
      begun.resolve()
      await go.promise
      if (calls === 1) throw new Error('broke')
      return {}
    },
  })
  const first = ask('POST', '/abilities/slow:work', {}, key)
  await begun.promise
  const second = await ask('POST', '/abilities/slow:work', {}, key)
  expect(problemIn(second)).toMatchObject({ status: 409, code: 'KEY_IN_USE' })
  expect(second.headers.get('retry-after')).toBe('1')
  go.resolve()
  expect((await first).status).toBe(500)
  expect((await ask('POST', '/abilities/slow:work', {}, key)).status).toBe(200)
  expect((await ask('POST', '/abilities/slow:work', {}, key)).headers.get('idempotency-replayed')).toBe('true')
  expect(calls).toBe(2)
})

it('responses by Idempotency-Key expire after a day and beyond a thousand; principals do not share them', async () => {
  const clock = new SimulatedClock()
  const world = await openWorld({
    clock,
    rateLimit: false,
    authenticate: ({ headers }) => ({ scopes: ['admin'], owner: headers.get('x-name') ?? 'ann' }),
  })
  const replayed = async (name: string, idempotencyKey: string) =>
    (
      await world.ask('POST', '/abilities/bus:list', {}, { 'x-name': name, 'idempotency-key': idempotencyKey })
    ).headers.has('idempotency-replayed')
  expect(await replayed('ann', 'k')).toBe(false)
  expect(await replayed('ann', 'k')).toBe(true)
  expect(await replayed('bob', 'k')).toBe(false)
  clock.increment(24 * 60 * 60_000)
  expect(await replayed('ann', 'k')).toBe(false)
  for (let count = 0; count < 1_001; count++) await replayed('ann', `other ${count}`)
  expect(await replayed('ann', 'other 1000')).toBe(true)
  expect(await replayed('ann', 'k')).toBe(false)
})

it('no client makes the server forget the responses of another, and a refusal before the ability is called is not stored', async () => {
  const granted = new Set(['bob'])
  const world = await openWorld({
    rateLimit: false,
    authenticate: ({ headers }) => {
      const owner = headers.get('x-name') as string
      return { scopes: granted.has(owner) ? ['read'] : [], owner }
    },
  })
  const list = (name: string, idempotencyKey: string) =>
    world.ask('POST', '/abilities/task:list', {}, { 'x-name': name, 'idempotency-key': idempotencyKey })
  await list('bob', 'k')
  const refused = await list('eve', 'first')
  expect(refused.status).toBe(403)
  expect((await list('eve', 'first')).headers.has('idempotency-replayed')).toBe(false)
  granted.add('eve')
  expect((await list('eve', 'first')).status).toBe(200)
  for (let count = 0; count < 1_001; count++) await list('eve', `other ${count}`)
  expect((await list('eve', 'first')).headers.has('idempotency-replayed')).toBe(false)
  expect((await list('bob', 'k')).headers.get('idempotency-replayed')).toBe('true')
})

it('a refusal by the handler of an ability is stored, even when another ability refused it', async () => {
  const { ask, engine } = await openWorld()
  let calls = 0
  engine.bus.register({
    id: 'outer:work',
    description: 'Does something, and then calls another ability with an invalid input.',
    input: z.object({}),
    output: z.unknown(),
    async handle() {
      calls += 1
      return engine.bus.call('task:get' as string, { taskId: 1 } as never)
    },
  })
  for (let count = 0; count < 2; count++) expect((await ask('POST', '/abilities/outer:work', {}, key)).status).toBe(400)
  expect(calls).toBe(1)
})

it('an invalid Idempotency-Key is refused, and one for a stream', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  for (const bad of ['x'.repeat(201), 'ä']) {
    expect(problemIn(await world.ask('POST', '/tasks', { name: 'a' }, { 'idempotency-key': bad })).status).toBe(400)
  }
  expect(problemIn(await world.ask('POST', '/abilities/task:stream', { taskId: id }, key)).status).toBe(400)
})

it('X-032 HTTP problems carry the code, the message and the details of the engine', async () => {
  const world = await openWorld()
  const id = await withTask(world)
  const error = await world.engine.resume(id).catch((thrown: unknown) => thrown as ErrandError)
  const problem = problemIn(await world.ask('POST', `/tasks/${id}/resume`))
  expect(problem).toMatchObject({ status: 409, title: 'Invalid transition', code: 'INVALID_TRANSITION' })
  expect(problem.detail).toBe((error as ErrandError).message)
  expect(problem.details).toMatchObject({ ...(error as ErrandError).details })
})

it('X-032 HTTP problems have the status of the table for every code, and hide internal details', async () => {
  const { ask, engine, errors } = await openWorld()
  let thrown: unknown
  engine.bus.register({
    id: 'break:it',
    description: 'Breaks.',
    input: z.object({}),
    output: z.object({}),
    handle() {
      throw thrown
    },
  })
  const problemFor = async (error: unknown) => {
    thrown = error
    errors.length = 0
    return problemIn(await ask('POST', '/abilities/break:it', {}))
  }
  for (const [code, status] of Object.entries(statusOfCode)) {
    expect([code, (await problemFor(new ErrandError(code as never, 'because'))).status]).toEqual([code, status])
    expect([code, errors.length]).toEqual([code, status >= 500 ? 1 : 0])
  }
  expect(await problemFor(new Error('secret at /etc/passwd'))).toMatchObject({
    status: 500,
    code: 'INTERNAL_ERROR',
    details: {},
  })
  expect(JSON.stringify(await problemFor(new Error('secret at /etc/passwd')))).not.toContain('secret')
  expect(errors).toHaveLength(1)
  expect(await problemFor(new Failure('no such note', { retry: false }))).toMatchObject({
    code: 'EXECUTION_ERROR',
    detail: 'no such note',
  })
  const ledger = await problemFor(
    new ErrandError('LEDGER_BUSY', 'at /home/ann/secret.db', { path: '/home/ann/secret.db' }),
  )
  expect(JSON.stringify(ledger)).not.toContain('secret')
})

it('HTTP problems are not reported for a client that has disconnected', async () => {
  const { http, engine, errors } = await openWorld()
  const { id } = await engine.create({ name: 'a' })
  const leaving = new AbortController()
  const answer = http(requestOf('POST', '/abilities/task:wait', { taskIds: [id] }, {}, leaving.signal))
  leaving.abort()
  expect((await answer).status).toBeGreaterThanOrEqual(400)
  expect(errors).toEqual([])
  const begun = deferred()
  engine.bus.register({
    id: 'test:endless',
    description: 'Waits until its client has disconnected.',
    input: z.strictObject({}),
    output: z.unknown(),
    handle: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        begun.resolve()
      }),
  })
  const client = new AbortController()
  const headers = { 'idempotency-key': 'once' }
  const brokenOff = http(requestOf('POST', '/abilities/test:endless', {}, headers, client.signal))
  await begun.promise
  client.abort()
  expect((await brokenOff).status).toBe(500)
  expect(errors).toEqual([])
})
