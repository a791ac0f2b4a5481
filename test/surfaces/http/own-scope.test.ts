// The scope `own`: ann and bob share a ledger, and neither finds, reads or changes anything of the other, whatever they try.
import { expect, it, onTestFinished } from 'vitest'
import type { Principal } from '../../../src/surfaces/http/index.ts'
import { pathNames, routes, takesBody } from '../../../src/surfaces/http/routes.ts'
import { openWorld, requestOf } from './world.ts'

const everything: Principal['scopes'] = ['own', 'read', 'create', 'control']
const secret = 'the secret of ann'

async function setup() {
  const principals: Record<string, Principal> = {
    ann: { owner: 'ann', scopes: everything },
    bob: { owner: 'bob', scopes: everything },
    operator: { owner: 'olga', scopes: ['admin'] },
  }
  const world = await openWorld(
    {
      authenticate: (request) => principals[request.headers.get('x-user') ?? ''] ?? null,
      rateLimit: false,
    },
    { executors: { ask: async (_task, run) => await run.ask(`Is ${secret} safe?`) } },
  )
  const as = (user: string) => async (method: string, path: string, body?: unknown) => {
    const aborting = new AbortController()
    const request = requestOf(method, path, body, { 'x-user': user, authorization: '' }, aborting.signal)
    const response = await world.http(request)
    // A stream that was let through does not end by itself.
    const isStream = /event-stream/.test(response.headers.get('content-type') ?? '')
    const text = isStream ? 'a stream' : await response.text()
    aborting.abort()
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  const ann = as('ann')
  const make = async (user: typeof ann, fields: object) => {
    const { status, text, body } = await user('POST', '/tasks', fields)
    expect(status, text).toBe(201)
    return body.taskId as string
  }
  const root = await make(ann, { name: secret, executor: 'ask', tags: ['x'], metadata: { x: 1 }, key: 'k' })
  const child = await make(ann, { name: secret, description: secret, parentId: await make(ann, { name: secret }) })
  for await (const item of world.engine.stream(root)) {
    if (item.type === 'state' && item.status === 'input_required') break
  }
  return { ...world, ann, bob: as('bob'), operator: as('operator'), root, child, make }
}

type Schema = {
  properties?: Record<string, Schema>
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  required?: string[]
}

/** An input that names the task in every field that may hold the id of one, and has something in every required field. */
function hostileInput(schema: Schema, id: string): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    if (/^(taskId|parentId|parentTaskId|id|forkedFrom|rootId)$/.test(name)) found[name] = id
    else if (/^(taskIds|ids|blockedBy|blockers|others|after)$/.test(name) && each.type === 'array') found[name] = [id]
    else if (name === 'name' || name === 'prompt') found[name] = 'x'
    else if (name === 'filter') found[name] = hostileInput(each, id)
    else if (schema.required?.includes(name)) found[name] = sampleOf(each)
  }
  return found
}

function sampleOf({ type, enum: words, anyOf }: Schema): unknown {
  if (words !== undefined) return words[0]
  if (type === undefined && anyOf !== undefined) return sampleOf(anyOf[0] as Schema)
  return { string: 'x', number: 1, integer: 1, boolean: true, array: [], object: {} }[type ?? 'string']
}

it('each ability answers bob about a task of ann as about one that does not exist', async () => {
  const { engine, bob, root, child } = await setup()
  const before = await Promise.all([root, child].map((id) => engine.get(id)))
  const events = (await engine.bus.call('event:list', { limit: 5_000 })).events.length
  let answered = 0
  for (const ability of engine.bus.abilities()) {
    for (const id of [root, child]) {
      const unknown = `task-${'0'.repeat(id.length - 5)}`
      const [real, none] = await Promise.all(
        [id, unknown].map(async (each) => {
          const path = `/abilities/${encodeURIComponent(ability.id)}`
          const { status, text } = await bob('POST', path, hostileInput(ability.inputSchema as Schema, each))
          return `${status} ${text.replaceAll(each, 'TASK')}`
        }),
      )
      expect(real, ability.id).toBe(none)
      expect(real).not.toContain(secret)
      expect(real, ability.id).toMatch(ability.own ? /^404 / : /^403 /)
      answered++
    }
  }
  expect(answered).toBeGreaterThan(150)
  for (const [index, id] of [root, child].entries()) expect(await engine.get(id)).toEqual(before[index])
  expect((await engine.bus.call('event:list', { limit: 5_000 })).events).toHaveLength(events)
})

it('each route answers bob about a task of ann as about one that does not exist', async () => {
  const { engine, bob, root, child } = await setup()
  const before = await Promise.all([root, child].map((id) => engine.get(id)))
  for (const route of routes) {
    const schema = (engine.bus.get(route.ability)?.inputSchema ?? {}) as Schema
    for (const id of [root, child]) {
      const [real, none] = await Promise.all(
        [id, `task-${'0'.repeat(id.length - 5)}`].map(async (each) => {
          const path = pathNames(route.path).reduce((text, name) => text.replace(`{${name}}`, each), route.path)
          const { [pathNames(route.path)[0] ?? '']: _path, ...input } = hostileInput(schema, each)
          const query = takesBody(route) ? '' : `?${new URLSearchParams(fieldsOf(input)).toString()}`
          const { status, text } = await bob(route.method, `${path}${query}`, takesBody(route) ? input : undefined)
          return `${status} ${text.replaceAll(each, 'TASK')}`
        }),
      )
      expect(real, `${route.method} ${route.path}`).toBe(none)
      expect(real).not.toContain(secret)
      expect(real, `${route.method} ${route.path}`).not.toMatch(/^2\d\d .*TASK/)
    }
  }
  for (const [index, id] of [root, child].entries()) expect(await engine.get(id)).toEqual(before[index])
})

const fieldsOf = (input: Record<string, unknown>) =>
  Object.entries(input).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, `${value}`] as [string, string]] : [],
  )

it('bob makes no task that concerns one of ann', async () => {
  const { engine, bob, root, child } = await setup()
  const { tasks } = await engine.list()
  for (const id of [root, child]) {
    for (const fields of [
      { name: 'x', parentId: id },
      { name: 'x', blockedBy: [id] },
      { name: 'x', team: { parentBranch: `task/${id}` } },
    ]) {
      const { status, text } = await bob('POST', '/tasks', fields)
      expect([400, 404], `${JSON.stringify(fields)} ${text}`).toContain(status)
    }
    expect((await bob('POST', '/tasks', { name: 'x', key: `own:owner:ann:k` })).text).not.toContain(root)
  }
  const after = (await engine.list()).tasks.filter(({ id }) => tasks.every((task) => task.id !== id))
  for (const task of after) expect(task).toMatchObject({ parentId: null, blockedBy: [] })
})

it('lists, counts, searches, batches and events of bob have only his own tasks', async () => {
  const { engine, bob, ann, operator, make } = await setup()
  const mine = await make(bob, { name: 'mine', tags: ['x'], metadata: { x: 1 }, key: 'k' })
  const below = await make(operator, { name: 'by the operator', parentId: mine })
  const names = async (path: string) => {
    const { body } = await bob('GET', path)
    expect(body.total, path).toBe(body.tasks.length)
    return body.tasks.map(({ name }: { name: string }) => name)
  }
  expect(await names('/tasks')).toEqual(['mine', 'by the operator'])
  expect(await names('/tasks?tags=x')).toEqual(['mine'])
  expect(await names('/tasks?text=secret')).toEqual([])
  expect(await names('/tasks?status=input_required')).toEqual([])
  expect((await bob('GET', '/tasks?at=1')).status).toBe(403)
  expect((await bob('POST', '/abilities/task:graph', {})).status).toBe(403)
  const listed = await bob('GET', '/events/list?limit=1000')
  expect(listed.status).toBe(200)
  expect(new Set(listed.body.events.map(({ taskId }: { taskId: string }) => taskId))).toEqual(new Set([mine, below]))
  for (const path of ['/metrics', '/status', '/openapi.json'])
    expect((await bob('GET', path)).text).not.toContain(secret)
  const canceled = await bob('POST', '/abilities/task:batch', { action: 'cancel', filter: {} })
  expect(canceled.status, canceled.text).toBe(200)
  expect((await engine.get(mine))?.status).toBe('canceled')
  const others = (await ann('GET', '/tasks')).body.tasks as Array<{ status: string; name: string }>
  expect(others.map(({ name }) => name)).toEqual([secret, secret, secret])
  expect(others.map(({ status }) => status)).not.toContain('canceled')
})

it('the feed of bob has the events of his own tasks, and none of ann', async () => {
  const { engine, bob, http, ann, make } = await setup()
  const aborting = new AbortController()
  onTestFinished(() => aborting.abort())
  const request = requestOf(
    'GET',
    '/events?after=0',
    undefined,
    { 'x-user': 'bob', authorization: '' },
    aborting.signal,
  )
  const response = await http(request)
  expect(response.status).toBe(200)
  const mine = await make(bob, { name: 'mine' })
  await make(ann, { name: secret })
  await bob('POST', `/tasks/${mine}/cancel`, {})
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('task.canceled')) text += (await reader.read()).value ?? ''
  expect(text).toContain(mine)
  expect(text).not.toContain(secret)
  expect((await engine.get(mine))?.status).toBe('canceled')
})

it('bob does with his own tasks what a client without the scope could do', async () => {
  const { bob, operator, make } = await setup()
  const mine = await make(bob, { name: 'mine' })
  const next = await make(bob, { name: 'next', blockedBy: [mine], parentId: undefined })
  for (const [method, path, body] of [
    ['GET', `/tasks/${mine}`],
    ['GET', `/tasks/${mine}/why`],
    ['GET', `/tasks/${mine}/machine`],
    ['GET', `/tasks/${next}/events`],
    ['POST', `/tasks/${mine}/start`, {}],
    ['PATCH', `/tasks/${mine}`, { name: 'renamed' }],
    ['POST', `/tasks/${mine}/cancel`, {}],
    ['DELETE', `/tasks/${mine}`],
  ] as const) {
    const { status, text } = await bob(method, path, body)
    expect(status, `${method} ${path} ${text}`).toBe(200)
  }
  expect((await operator('GET', '/tasks')).body.tasks.length).toBeGreaterThan(3)
})

it('credentials with the scope `own` need a name, and no other right contradicts it', async () => {
  for (const principal of [
    { scopes: ['own', 'read'] },
    { scopes: ['own', 'admin'], owner: 'ann' },
    { scopes: ['own', 'read'], owner: 'ann', taskId: 'task-1' },
  ] as Principal[]) {
    const { http, errors } = await openWorld({ authenticate: () => principal })
    expect((await http(requestOf('GET', '/tasks'))).status).toBe(500)
    expect(errors).toHaveLength(1)
  }
})
