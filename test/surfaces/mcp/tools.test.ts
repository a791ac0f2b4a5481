// MCP tools: which abilities are offered, what a call returns, and how long it may take, tested with requests as sent over the wire.
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../../src/bus/ability.ts'
import { ErrandError } from '../../../src/core/errors.ts'
import type { EngineOptions } from '../../../src/engine/engine-api.ts'
import { type AgentSession, type McpFetchOptions, mcpFetchHandler } from '../../../src/surfaces/mcp/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { scheduleOperations } from '../../../src/time/operations/schedules.ts'
import { openEngine } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { modernRequest, post, type Reply, replyOf, requestOf, token } from './world.ts'

async function open(options: Partial<McpFetchOptions> = {}, engineOptions: EngineOptions = {}) {
  const engine = await openEngine(engineOptions)
  const handler = mcpFetchHandler(engine, { token, abilities: allTools, ...options })
  onTestFinished(() => handler.close())
  const call = (name: string, input: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
    post(handler, modernRequest('tools/call', { name, arguments: input }), headers)
  const names = async () => {
    const { result } = await post(handler, modernRequest('tools/list'))
    return (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)
  }
  return { engine, handler, call, names }
}

const textOf = (result: Reply['result']): string => (result as { content: [{ text: string }] }).content[0].text

const errorOf = ({ result }: Reply): unknown => {
  expect(result).toMatchObject({ isError: true })
  expect(result).not.toHaveProperty('structuredContent')
  return (JSON.parse(textOf(result)) as { error: unknown }).error
}

function ability(id: string, more: object = {}) {
  const schema = z.strictObject({})
  return defineAbility({ id, description: 'Does it.', input: schema, output: schema, handle: () => ({}), ...more })
}

it('the MCP tools are the abilities on the bus that match the patterns, at the time of the request', async () => {
  const { engine, call, names } = await open({ abilities: ['notes:*', 'task:get'] })
  expect(await names()).toEqual(['task_get'])
  const takeAway = engine.bus.register(ability('notes:add'))
  engine.bus.register(ability('other:add'))
  expect(await names()).toEqual(['notes_add', 'task_get'])
  expect((await call('notes_add')).result).toMatchObject({ structuredContent: {} })
  takeAway()
  expect(await names()).toEqual(['task_get'])
  for (const name of ['notes_add', 'other_add', 'task_create', 'task:get', '__proto__', 'constructor']) {
    expect((await call(name)).error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining(name) as string,
    })
  }
})

it('the MCP tools exclude abilities that are not for models, that require confirmation, or that stream', async () => {
  const { engine, call, names } = await open({ abilities: ['*'] })
  engine.bus.register(ability('secret:do', { models: false }))
  engine.bus.register(ability('danger:do', { confirm: true }))
  const listed = await names()
  expect(listed).toContain('task_create')
  for (const name of ['secret_do', 'danger_do', 'task_stream', 'ldg_task_get']) {
    expect(listed).not.toContain(name)
    expect((await call(name)).error?.code).toBe(-32_602)
  }
})

it('the MCP tools have schedules only where the server names them by their ids, for a client that is no task', async () => {
  const pattern = await open({ abilities: ['task:get', 'schedules:*'] })
  expect(await pattern.names()).toEqual(['task_get'])
  expect((await pattern.call('schedules_list')).error?.code).toBe(-32_602)
  const ids = scheduleOperations.map(({ id }) => id)
  const { engine, call, names } = await open({ abilities: ['task:get', ...ids] })
  expect(await names()).toEqual(['task_get', ...ids.map((id) => id.replace(':', '_'))])
  const input = (given: object) => ({ name: 'hourly', ...given })
  const put = await call('schedules_put', input({ every: '1h', task: { name: 'look' } }))
  expect(put.result).toMatchObject({ structuredContent: { schedule: { name: 'hourly', paused: false } } })
  await call('schedules_pause', input({}))
  const listed = await call('schedules_list', {})
  expect(listed.result).toMatchObject({ structuredContent: { schedules: [{ name: 'hourly', paused: true }] } })
  await call('schedules_resume', input({}))
  await call('schedules_trigger', input({}))
  await call('schedules_backfill', input({ from: Date.now() - 7_200_000, to: Date.now() }))
  expect((await engine.list()).tasks.map(({ name }) => name)).toEqual(['look', 'look', 'look'])
  await call('schedules_remove', input({}))
  expect((await call('schedules_list', {})).result).toMatchObject({ structuredContent: { schedules: [] } })
})

it('the MCP tools have distinct names even if two ids differ only in their colons', async () => {
  const { engine, call, names } = await open({ abilities: ['notes:*'] })
  engine.bus.register(
    ability('notes:add:one', { output: z.object({ is: z.string() }), handle: () => ({ is: 'colons' }) }),
  )
  engine.bus.register(
    ability('notes:add_one', { output: z.object({ is: z.string() }), handle: () => ({ is: 'dash' }) }),
  )
  const found = await Promise.all((await names()).map(async (name) => (await call(name)).result?.['structuredContent']))
  expect(found).toHaveLength(2)
  expect(found).toEqual(expect.arrayContaining([{ is: 'colons' }, { is: 'dash' }]))
})

it('the MCP tools return outputs that are not objects in the format of either protocol version', async () => {
  const { engine, handler, call } = await open({ abilities: ['notes:*'] })
  engine.bus.register(ability('notes:count', { output: z.number(), handle: () => 3 }))
  expect((await call('notes_count')).result).toMatchObject({ structuredContent: 3, content: [{ text: '3' }] })
  const legacy = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'notes_count', arguments: {} } }
  const headers = { 'mcp-protocol-version': '2025-11-25' }
  expect((await post(handler, legacy, headers)).result).toMatchObject({ structuredContent: { result: 3 } })
})

it('a subscription to the MCP tools is notified of abilities that are registered later, if they are offered', async () => {
  const { engine, handler } = await open({ abilities: ['notes:*'] })
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const response = await handler(requestOf(listen))
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  const until = async (word: string) => {
    while (!received.includes(word)) received += (await reader.read()).value ?? ''
  }
  await until('acknowledged')
  engine.bus.register(ability('other:add'))
  engine.bus.register(ability('notes:add'))
  await until('notifications/tools/list_changed')
  expect(received.match(/tools\/list_changed/g)).toHaveLength(1)
  await reader.cancel()
})

it('an error of an MCP tool contains the code and message of the ability, but nothing of the system, the ledger or the source', async () => {
  const { engine, call } = await open({ abilities: ['bad:*'] })
  const fail = (name: string, thrown: unknown) =>
    engine.bus.register(
      ability(`bad:${name}`, {
        handle: () => {
          throw thrown
        },
      }),
    )
  fail('own', new Error('No such city'))
  fail('disk', Object.assign(new Error("ENOENT: open '/home/me/secret'"), { code: 'ENOENT', syscall: 'open' }))
  fail(
    'ledger',
    new ErrandError('LEDGER_BUSY', 'The ledger /home/me/errand.db is locked: INSERT INTO task', { file: '/home' }),
  )
  fail('odd', new ErrandError('LIMIT_EXCEEDED', 'Too many', { limit: 3n }))
  expect(errorOf(await call('bad_own'))).toEqual({
    code: 'EXECUTION_ERROR',
    message: 'No such city',
    details: { abilityId: 'bad:own' },
  })
  const disk = errorOf(await call('bad_disk'))
  expect(disk).toMatchObject({ code: 'EXECUTION_ERROR', message: expect.stringContaining('ENOENT') as string })
  const ledger = errorOf(await call('bad_ledger'))
  expect(ledger).toMatchObject({ code: 'LEDGER_BUSY' })
  expect(JSON.stringify([disk, ledger])).not.toMatch(/home|INSERT|stack/)
  expect(errorOf(await call('bad_odd'))).toEqual({ code: 'LIMIT_EXCEEDED', message: 'Too many', details: {} })
})

it.each([
  ['no limit of its own', undefined, 20],
  ['a longer limit', 3_600_000, 20],
  ['a longer limit that is a text', '1h', 20],
  ['a shorter limit', 20, 3_600_000],
])(
  'an MCP call that waits with %s returns before its client times out, with the current state, and the task continues',
  async (_what, timeoutMs, maxWaitMs) => {
    const goOn = Promise.withResolvers<string>()
    const { engine, call } = await open({ maxWaitMs }, { executors: { until: () => goOn.promise } })
    const done = await engine.create({ name: 'Done' })
    await engine.start(done)
    await engine.complete(done, 7)
    const open_ = await engine.create({ executor: 'until' })
    const limit = timeoutMs === undefined ? {} : { timeoutMs }
    const { result } = await call('task_wait', { taskIds: [done.id, open_.id], ...limit })
    expect(result).toMatchObject({
      structuredContent: {
        tasks: [
          { taskId: done.id, status: 'completed', result: 7 },
          { taskId: open_.id, status: 'open' },
        ],
      },
      content: [{ type: 'text' }, { text: expect.stringContaining('Call again') as string }],
    })
    expect((await engine.get(open_))?.status).toBe('working')
    goOn.resolve('now')
    await engine.result(open_)
    expect((await call('task_wait', { taskIds: [open_.id] })).result).toMatchObject({
      structuredContent: { tasks: [{ status: 'completed', result: 'now' }] },
    })
  },
)

it('an MCP call that waits refuses an invalid time-out and unknown tasks', async () => {
  const { call } = await open()
  for (const timeoutMs of [-1, 'soon']) {
    expect(errorOf(await call('task_wait', { taskIds: ['task-x'], timeoutMs }))).toMatchObject({
      code: 'INVALID_INPUT',
    })
  }
  expect(errorOf(await call('task_wait', { taskIds: ['task-x'] }))).toMatchObject({ code: 'NOT_FOUND' })
})

it('an MCP call that waits reports progress to a client that requested it', async () => {
  const clock = new SimulatedClock()
  const goOn = Promise.withResolvers<object>()
  const { engine, handler } = await open({ abilities: ['notes:*'], progressEveryMs: 2_000, clock })
  const begun = Promise.withResolvers<void>()
  const handle = () => {
    begun.resolve()
    return goOn.promise
  }
  engine.bus.register(ability('notes:slow', { handle }))
  const message = modernRequest('tools/call', { name: 'notes_slow', arguments: {}, _meta: { progressToken: 'p' } })
  const pending = handler(requestOf(message))
  await begun.promise
  clock.increment(4_000)
  goOn.resolve({})
  const { text, result } = await replyOf(await pending)
  const progress = Array.from(text.matchAll(/"progress":(\d+)/g), ([, seconds]) => Number(seconds))
  expect(progress).toEqual([2, 4])
  expect(text).toContain('"progressToken":"p"')
  expect(result).toMatchObject({ structuredContent: {} })
  expect(clock.pending).toBeLessThanOrEqual(1)
})

function sessions() {
  const opened: string[] = []
  const closed: string[] = []
  const session = (agent: string): AgentSession => {
    opened.push(agent)
    return {
      call: async (abilityId, input, { caller }) => ({
        agent,
        abilityId,
        input,
        owner: caller?.owner,
        surface: caller?.surface,
      }),
      close: () => void closed.push(agent),
    }
  }
  return { opened, closed, session }
}

it('the session of an MCP agent is one per agent, identified by its header or the configured name', async () => {
  const { opened, closed, session } = sessions()
  const { handler, call } = await open({ session, as: 'claude' })
  const who = async (headers: Record<string, string> = {}) =>
    (await call('task_list', { limit: 1 }, headers)).result?.['structuredContent'] as object
  expect(await who()).toEqual({
    agent: 'claude',
    abilityId: 'task:list',
    input: { limit: 1 },
    owner: 'claude',
    surface: 'mcp',
  })
  expect(await who({ 'x-errand-agent': 'codex' })).toMatchObject({ agent: 'codex', owner: 'codex' })
  await Promise.all([who(), who(), who({ 'x-errand-agent': 'codex' })])
  expect({ opened, closed }).toEqual({ opened: ['claude', 'codex'], closed: [] })
  await handler.close()
  expect(closed.toSorted()).toEqual(['claude', 'codex'])
})

it('the session of an MCP agent is not opened for a client without a name, which calls the bus directly', async () => {
  const { opened, session } = sessions()
  const { engine, call } = await open({ session })
  expect((await call('task_list')).result).toMatchObject({ structuredContent: { tasks: [], total: 0 } })
  expect(opened).toEqual([])
  expect(engine.bus.log({ limit: 1 })).toMatchObject([{ abilityId: 'task:list', caller: { surface: 'mcp' } }])
})

it('the session of an MCP agent ends when its agent has been idle for long, and is opened again by its next call', async () => {
  const clock = new SimulatedClock()
  const { opened, closed, session } = sessions()
  const { call } = await open({ session, as: 'claude', sessionIdleMs: 60_000, clock })
  await call('task_list')
  clock.increment(59_999)
  await call('task_list')
  clock.increment(59_999)
  expect(closed).toEqual([])
  clock.increment(1)
  expect(closed).toEqual(['claude'])
  await call('task_list')
  expect(opened).toEqual(['claude', 'claude'])
})

it('V-09 the session of an MCP agent takes the slot of the longest idle session of its own principal only', async () => {
  const { opened, closed, session } = sessions()
  const authenticate = ({ headers }: Request) => ({
    scopes: ['admin' as const],
    taskId: headers.get('x-task') as string,
  })
  const { call } = await open({ session, token: undefined, authenticate })
  const callAs = async (task: string, agent: string) =>
    (await call('task_list', {}, { 'x-task': task, 'x-errand-agent': agent })).result
  await callAs('a', 'codex')
  await callAs('b', 'first')
  for (let count = 0; count < 99; count++) await callAs('b', `made-up-${count}`)
  await callAs('b', 'first')
  expect(closed).toEqual([])
  for (let count = 99; count < 1_100; count++) await callAs('b', `made-up-${count}`)
  expect([opened.length, closed.length]).toEqual([1_102, 1_001])
  expect(closed.slice(0, 2)).toEqual(['made-up-0', 'made-up-1'])
  expect(closed).not.toContain('codex')
  expect(await callAs('c', 'gemini')).not.toHaveProperty('isError')
})
