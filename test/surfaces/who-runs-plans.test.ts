// Who may run a plan that a client sends, where its commands may begin, and which models it may name.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { Caller } from '../../src/bus/caller.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import { ask, createShell, defineExecutor } from '../../src/index.ts'
import { type McpHttpOptions, serveMcpHttp } from '../../src/surfaces/mcp/index.ts'
import { openEngine, refusalOf } from '../engine/world.ts'
import { openWorld } from './http/world.ts'
import { connectHttp, eras, token as mcpToken } from './mcp/world.ts'

const program: Caller = { surface: 'library' }
const admin: Caller = { surface: 'http', scopes: ['admin'], owner: 'ann' }

const executors = { shell: createShell(), ask }

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'errand-plans-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function world(options: EngineOptions = {}) {
  const root = folder()
  const engine = (await openEngine({ executors, plans: { root }, ...options })) as unknown as Engine
  const run = (plan: object, caller = program, request: object = {}) =>
    engine.bus.call('plan:run' as string, { plan, ...request }, { caller }) as Promise<{
      round: string
      tasks: Array<{ path: string; taskId: string; status: string }>
    }>
  return { root, engine, run }
}

const hello = { name: 'hello', tasks: { greet: { run: 'echo hello > greeting' } } }

it('plan:run does not exist where the engine has no folder for plans', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  expect(engine.bus.has('plan:run')).toBe(false)
})

it('an engine refuses a folder for plans that does not exist', async () => {
  await refusalOf(openEngine({ plans: { root: '/nowhere/at/all' } }), 'NOT_FOUND')
})

it.each([
  ['the program', program],
  ['a client over HTTP with all scopes', admin],
])('plan:run runs a plan for %s in the folder for plans', async (_who, caller) => {
  const { root, engine, run } = await world()
  const { round, tasks } = await run(hello, caller)
  expect(tasks).toMatchObject([{ path: 'greet' }])
  await engine.result(tasks[0]?.taskId as string)
  expect(readFileSync(join(root, 'greeting'), 'utf8')).toBe('hello\n')
  expect((await engine.get(tasks[0]?.taskId as string))?.key).toBe(`${round}/greet`)
  // A repeated call continues the round: nothing runs twice.
  expect(await run(hello, caller)).toMatchObject({ round, tasks: [{ status: 'completed' }] })
})

it('plan:run records the requester in the tasks of a plan', async () => {
  const { engine, run } = await world({ autoStart: false })
  await run(hello, admin)
  const { tasks } = await engine.list()
  expect(tasks.map(({ createdBy }) => createdBy)).toEqual(['ann', 'ann'])
  for await (const event of engine.events({ follow: false }))
    expect(event.data['requestedBy']).toEqual({ surface: 'http', owner: 'ann' })
})

it.each<[string, Caller]>([
  ['a client over MCP', { surface: 'mcp', model: true }],
  ['a client over HTTP without the scope admin', { surface: 'http', scopes: ['read', 'create', 'control'] }],
  ['a model over HTTP with all scopes', { surface: 'http', scopes: ['admin'], model: true }],
  ['the tools of a model', { surface: 'tools' }],
  ['a chat', { surface: 'chat', scopes: ['read', 'create', 'control'] }],
])('V-01 plan:run refuses %s, also for a plan without commands', async (_who, caller) => {
  const { engine, run } = await world()
  for (const plan of [hello, { name: 'x', tasks: { q: { ask: 'x' } } }]) await refusalOf(run(plan, caller), 'FORBIDDEN')
  expect((await engine.list()).total).toBe(0)
})

it('V-01 plan:run refuses callers with a task: a run, its model, and a client bound to a task', async () => {
  const { engine, run } = await world()
  const { id: taskId } = await engine.create({ name: 'own' })
  const callers: Caller[] = [
    { surface: 'run', taskId, run: 1 },
    { surface: 'model', taskId },
    { surface: 'http', scopes: ['admin'], taskId },
  ]
  for (const caller of callers) await refusalOf(run(hello, caller), 'FORBIDDEN')
  expect((await engine.list()).total).toBe(1)
})

it('plan:run refuses a command that begins outside of the folder, by its real path, and creates nothing', async () => {
  const { root, engine, run } = await world()
  mkdirSync(join(root, 'inside'))
  symlinkSync(tmpdir(), join(root, 'link'))
  symlinkSync(join(root, 'nothing'), join(root, 'broken'))
  symlinkSync(join(root, 'inside'), join(root, 'good'))
  for (const cwd of ['..', '/', 'link', 'link/deeper', 'broken', 'inside/../../x', `${root}-beside`]) {
    const refusal = await refusalOf(
      run({ name: 'x', tasks: { g: { cwd, tasks: { a: { run: 'pwd' } } } } }),
      'FORBIDDEN',
    )
    expect(refusal).toMatchObject({ details: { task: 'g/a' } })
    await refusalOf(run({ name: 'x', cwd, tasks: { a: { run: 'pwd' } } }), 'FORBIDDEN')
  }
  expect((await engine.list()).total).toBe(0)
  for (const [index, cwd] of ['.', 'inside', 'good', join(root, 'inside'), 'inside/later'].entries()) {
    await run({ name: `fine ${index}`, cwd, tasks: { a: { run: 'pwd', autoStart: false } } })
  }
})

it('plan:run refuses commands whose folder it cannot check', async () => {
  const own = defineExecutor({ runsCommands: true, run: () => 'ran' })
  const { run } = await world({ executors: { ...executors, own, echo: () => 'said' } })
  const task = (each: object) => run({ name: 'x', tasks: { a: each } })
  await refusalOf(task({ executor: 'shell', input: { run: 'pwd' } }), 'FORBIDDEN')
  await refusalOf(task({ executor: 'shell', input: { run: 'pwd', cwd: 'relative' } }), 'FORBIDDEN')
  await refusalOf(task({ executor: 'shell', input: { run: 'pwd', cwd: '/' } }), 'FORBIDDEN')
  await refusalOf(task({ executor: 'own' }), 'FORBIDDEN')
  await refusalOf(task({ executor: 'unknown' }), 'FORBIDDEN')
  await task({ executor: 'echo' })
})

it('plan:run refuses the folder of files for agents, which is an option of the engine', async () => {
  const { run } = await world()
  await refusalOf(run({ ...hello, files: '/' }), 'INVALID_PLAN')
})

it('V-04 plan:run lets a plan name only models that the engine offers, on a task or at its top', async () => {
  const asked: string[] = []
  const resolveModel = (id: string) => {
    asked.push(id)
    return createScriptedModel(() => ({ text: id }))
  }
  const spare = createScriptedModel(() => ({ text: 'spare' }), { modelId: 'spare' })
  const { engine, run } = await world({ resolveModel, models: { 'local:spare': spare } })
  for (const model of ['openai:gpt-5', 'script:/etc/passwd']) {
    await refusalOf(run({ name: 'x', tasks: { a: { goal: 'x', model } } }, admin), 'FORBIDDEN')
    await refusalOf(run({ name: 'x', model, tasks: { a: { goal: 'x' } } }, admin), 'FORBIDDEN')
  }
  expect(asked).toEqual([])
  expect((await engine.list()).total).toBe(0)
  const { tasks } = await run({ name: 'x', model: 'local:spare', tasks: { a: { goal: 'x' } } }, admin)
  expect(await engine.result(tasks[0]?.taskId as string)).toBe('spare')
})

it('V-03 plan:run does not adopt a task that a client with the same name and without the right has created', async () => {
  const { engine, run } = await world({ autoStart: false })
  const other: Caller = { surface: 'http', scopes: ['create'], owner: 'ann' }
  const { round } = await run(hello, admin)
  expect(round).toMatch(/^plan:/)
  const forged = { name: 'x', team: false, key: `${round}/forged` }
  await engine.bus.call('task:create' as string, forged, { caller: other })
  expect((await engine.list({ keyPrefix: `${round}/` })).total).toBe(1)
})

it('plan:run counts its tasks against those that one request may create', async () => {
  const { run } = await world()
  const tasks = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`t${n}`, { run: 'true' }]))
  await refusalOf(run({ name: 'x', tasks }, { ...admin, maxTasksPerCall: 5 }), 'LIMIT_EXCEEDED')
  await run({ name: 'x', tasks }, { ...admin, maxTasksPerCall: 6 })
})

it('POST /plans runs a plan, and its tasks are followed by the other routes', async () => {
  const { ask: request } = await openWorld({}, { executors, plans: { root: folder() } })
  const { status, body } = await request('POST', '/plans', { plan: hello })
  expect(status).toBe(200)
  const [{ taskId }] = body.tasks
  const waited = await request('POST', '/abilities/task:wait', { taskIds: [taskId] })
  expect(waited.body.tasks).toMatchObject([{ taskId, status: 'completed' }])
  expect((await request('GET', '/openapi.json')).body.paths['/plans'].post.operationId).toBe('runPlan')
  const bad = await request('POST', '/plans', { plan: { name: 'x', tasks: { a: { rum: 'x' } } } })
  expect(bad).toMatchObject({ status: 400, body: { code: 'INVALID_PLAN', details: { path: 'tasks.a.rum' } } })
})

it('POST /plans is neither a route nor in the OpenAPI document where the engine has no folder for plans', async () => {
  const { ask: request } = await openWorld({}, { executors })
  expect((await request('POST', '/plans', { plan: hello })).status).toBe(404)
  const { body } = await request('GET', '/openapi.json')
  expect(body.paths).not.toHaveProperty('/plans')
  expect(body.paths).not.toHaveProperty('/abilities/plan:run')
  expect(body.tags.map(({ name }: { name: string }) => name)).not.toContain('Plans')
})

it('V-01 POST /plans is refused to credentials without the scope admin', async () => {
  const authenticate = () => ({ scopes: ['read', 'create', 'control'] as const })
  const { ask: request } = await openWorld({ authenticate }, { executors, plans: { root: folder() } })
  expect((await request('POST', '/plans', { plan: hello })).status).toBe(403)
  expect((await request('GET', '/openapi.json')).body.paths).not.toHaveProperty('/plans')
})

describe.each(eras)('For an MCP client of the %s era', (era) => {
  async function serve(abilities: string[], options: EngineOptions, principal?: object) {
    const engine = (await openEngine({ executors, ...options })) as unknown as Engine
    const check = principal === undefined ? { token: mcpToken } : { authenticate: () => principal as never }
    const server = await serveMcpHttp(engine, { abilities, ...check } as McpHttpOptions)
    onTestFinished(() => server.close())
    return { engine, client: await connectHttp(era, server.url) }
  }
  const names = async (client: Awaited<ReturnType<typeof connectHttp>>) =>
    (await client.tools()).map(({ name }) => name)

  it('plan_run runs a plan where the MCP server names it', async () => {
    const root = folder()
    const { client, engine } = await serve(['task:wait', 'plan:run'], { plans: { root } })
    expect(await names(client)).toEqual(['task_wait', 'plan_run'])
    const { structuredContent } = await client.call('plan_run', { plan: hello })
    const [{ taskId }] = (structuredContent as { tasks: [{ taskId: string }] }).tasks
    await engine.result(taskId)
    expect(readFileSync(join(root, 'greeting'), 'utf8')).toBe('hello\n')
  })

  it('V-01 plan_run does not exist for a pattern, for lesser credentials, or without a folder for plans', async () => {
    const plans = { root: folder() }
    const worlds = [
      await serve(['*'], { plans }),
      await serve(['plan:*'], { plans }),
      await serve(['plan:run'], {}),
      await serve(['plan:run'], { plans }, { scopes: ['read', 'create', 'control'] }),
      await serve(['plan:run'], { plans }, { scopes: ['admin'], model: true }),
      await serve(['plan:run'], { plans }, { scopes: ['admin'], abilities: ['task:*'] }),
    ]
    for (const { client, engine } of worlds) {
      expect(await names(client)).not.toContain('plan_run')
      await expect(client.call('plan_run', { plan: hello })).rejects.toThrow(/not found/)
      expect((await engine.list()).total).toBe(0)
    }
  })
})
