// One MCP connection over standard input and output, with hand-written messages: when it ends, what it notifies, and what it requires.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentSession, type McpStdioOptions, serveMcpStdio } from '../../../src/surfaces/mcp/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { deferred, ledgerFile, openEngine, refusalOf, turns } from '../../engine/world.ts'
import { connectByHand, modernRequest, serverScript, tasksExtension } from './world.ts'

async function serve(options: McpStdioOptions = {}) {
  const engine = await openEngine({ executors: { echo: (task: { input: unknown }) => task.input } })
  return { engine, ...connectByHand(engine, options) }
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const create = (input: object) =>
  modernRequest('tools/call', { name: 'task_create', arguments: { goal: 'It', ...input } })

it('the MCP server over stdio ends with its client after calls in progress, and leaves the engine open', async () => {
  const { engine, input, ended, ask } = await serve()
  const { result } = await ask(create({ executor: 'echo', input: 7 }))
  input.end()
  await ended
  expect(await engine.result((result as { structuredContent: { taskId: string } }).structuredContent.taskId)).toBe(7)
})

it('the MCP server over stdio ends when its signal aborts, at any time', async () => {
  const already = await serve({ signal: AbortSignal.abort() })
  await already.ended
  const stop = new AbortController()
  const { ended, ask } = await serve({ signal: stop.signal })
  expect((await ask(modernRequest('server/discover'))).result).toMatchObject({ supportedVersions: ['2026-07-28'] })
  stop.abort()
  await ended
})

it('the MCP server over stdio creates the task of a client that does not wait for the answer', async () => {
  const { engine, input, ended, send } = await serve()
  const called = Promise.withResolvers<void>()
  engine.bus.onCall(() => called.resolve())
  send(create({ executor: 'echo', input: 7 }))
  await called.promise
  input.end()
  await ended
  expect(await engine.list()).toMatchObject({ tasks: [{ executor: 'echo' }] })
})

it('the MCP server over stdio answers pending requests after its input has ended, with the current state for waits, and then ends', async () => {
  const { engine, input, ended, send, next } = await serve()
  const open = await engine.create({ name: 'By hand' })
  const calls = [
    ['task_wait', { taskIds: [open.id] }],
    ['task_wait', { taskIds: ['task-nowhere'] }],
    ['task_create', { goal: 'It' }],
  ] as const
  for (const [index, [name, args]] of calls.entries()) {
    send({ ...modernRequest('tools/call', { name, arguments: args }), id: index })
  }
  input.end()
  const answers = [await next(), await next(), await next()].toSorted((a, b) => a['id'] - b['id'])
  expect(answers).toMatchObject([
    { id: 0, result: { structuredContent: { tasks: [{ taskId: open.id, status: 'open' }] } } },
    { id: 1, result: { isError: true, content: [{ text: expect.stringContaining('NOT_FOUND') as string }] } },
    { id: 2, result: { structuredContent: { taskId: expect.any(String) as string } } },
  ])
  await ended
})

it('the MCP server over stdio claims no work for a client that closes its input while it waits', async () => {
  const engine = await openEngine()
  const waiting = deferred()
  const session = (): AgentSession => ({
    call: (abilityId, given, options) => {
      const work = engine.bus.call(abilityId as string, given, options)
      waiting.resolve()
      return work
    },
    close: () => {},
  })
  const { input, ended, send, next } = connectByHand(engine, { as: 'ada', session })
  send(modernRequest('tools/call', { name: 'board_wait', arguments: {} }))
  await waiting.promise
  input.end()
  expect(await next()).toMatchObject({ result: { isError: true } })
  await ended
  const task = await engine.create({ name: 'For a claim' })
  expect(task).toMatchObject({ status: 'submitted', owner: null })
})

async function serveSlowly() {
  const clock = new SimulatedClock()
  const client = await serve({ abilities: ['notes:*'], clock })
  const begun = deferred()
  const broken = deferred()
  const schema = z.strictObject({})
  client.engine.bus.register({
    id: 'notes:slow',
    description: 'Takes its time.',
    input: schema,
    output: schema,
    handle: (_input, { signal }) => {
      begun.resolve()
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          broken.resolve()
          reject(signal.reason as Error)
        })
      })
    },
  })
  client.send(modernRequest('tools/call', { name: 'notes_slow', arguments: {} }))
  await begun.promise
  return { ...client, clock, broken }
}

it('the MCP server over stdio waits a limited time for a slow call, and then ends', async () => {
  const { engine, input, ended, clock, broken } = await serveSlowly()
  const closed = once(input, 'close')
  input.end()
  await closed
  clock.increment(4_999)
  await turns()
  expect(engine.bus.log({ limit: 1 })).toEqual([])
  clock.increment(1)
  await broken.promise
  await ended
})

it('the MCP server over stdio does not wait for a slow call that its client has canceled', async () => {
  const { input, ended, send, broken } = await serveSlowly()
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } })
  input.end()
  await broken.promise
  await ended
})

it('the MCP server over stdio ends at once when its output is closed', async () => {
  const engine = await openEngine()
  const output = new PassThrough()
  const { ended, send } = connectByHand(engine, { output })
  output.destroy(new Error('EPIPE'))
  send(modernRequest('server/discover'))
  await ended
})

it('the MCP server over stdio ignores invalid messages, and ends with a client that sent none', async () => {
  const reported: unknown[] = []
  const { input, ended, ask } = await serve({ onError: (error) => reported.push(error) })
  input.write('no json\n{"no":"message"}\n')
  expect((await ask(modernRequest('server/discover'))).result).toBeDefined()
  expect(reported).toHaveLength(1)
  input.end()
  await ended
  const silent = await serve()
  silent.input.end()
  await silent.ended
})

it('the MCP server over stdio refuses a request with an integer that a number cannot hold, and creates nothing', async () => {
  const { engine, input, ended, next } = await serve()
  const text = JSON.stringify(create({ executor: 'echo', input: 7 })).replace('"input":7', '"input":9007199254740993')
  input.write(`${text}\n`)
  expect(await next()).toMatchObject({ error: { code: -32602, message: expect.stringContaining('9007199254740993') } })
  expect((await engine.list()).total).toBe(0)
  input.end()
  await ended
})

it('the MCP server over stdio opens one session for its agent, and closes it at the end', async () => {
  const calls: unknown[] = []
  const session = (agent: string): AgentSession => ({
    call: async (abilityId, input) => {
      calls.push([agent, abilityId, input])
      return { tasks: [], total: 0 }
    },
    close: () => void calls.push([agent, 'close']),
  })
  const { input, ended, ask } = await serve({ as: 'claude', session })
  await ask(modernRequest('tools/call', { name: 'task_list', arguments: {} }))
  await ask(modernRequest('tools/call', { name: 'task_list', arguments: { limit: 1 } }))
  input.end()
  await ended
  expect(calls).toEqual([
    ['claude', 'task:list', {}],
    ['claude', 'task:list', { limit: 1 }],
    ['claude', 'close'],
  ])
})

it('the MCP server over stdio notifies a client of the older era of changed tools', async () => {
  const { engine, input, ended, ask, next } = await serve({ abilities: ['notes:*'] })
  expect((await ask(initialize)).result).toMatchObject({ capabilities: { tools: { listChanged: true } } })
  const schema = z.strictObject({})
  engine.bus.register({ id: 'notes:add', description: 'Adds.', input: schema, output: schema, handle: () => ({}) })
  expect(await next()).toMatchObject({ method: 'notifications/tools/list_changed' })
  expect((await ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).result).toMatchObject({
    tools: [{ name: 'notes_add' }],
  })
  input.end()
  await ended
})

it('the MCP server over stdio returns handles to a client that declares the Tasks extension', async () => {
  const { engine, input, ended, ask } = await serve()
  const declared = { extensions: { [tasksExtension]: {} } }
  const call = { name: 'task_create', arguments: { goal: 'It', executor: 'echo', input: 7 } }
  const { result } = (await ask(modernRequest('tools/call', call, declared))) as { result: { taskId: string } }
  expect(result).toMatchObject({ resultType: 'task' })
  await engine.result(result.taskId)
  expect(await ask(modernRequest('tasks/get', { taskId: result.taskId }, declared))).toMatchObject({
    result: { status: 'completed', result: { structuredContent: { result: 7 } } },
  })
  input.end()
  await ended
})

it('the MCP server over stdio refuses invalid options', async () => {
  const engine = await openEngine()
  await refusalOf(serveMcpStdio(engine, { agent: 'x' } as never), 'UNKNOWN_OPTION')
  await refusalOf(serveMcpStdio(engine, { as: 'two words' }), 'INVALID_INPUT')
  await refusalOf(serveMcpStdio(engine, { abilities: ['board'] }), 'INVALID_INPUT')
})

it('an MCP server in its own process answers a script that pipes its requests in, to the last byte, before it exits', async () => {
  const long = 'x'.repeat(300_000)
  const ids = [0, 1, 2]
  const requests = ids.map((id) => ({ ...create({ goal: long }), id }))
  const lists = ids.map((id) => ({ ...modernRequest('tools/list'), id: id + ids.length }))
  const wait = { ...modernRequest('tools/call', { name: 'board_wait', arguments: { as: 'ada' } }), id: 6 }
  const lines = [...requests, ...lists, wait].map((each) => `${JSON.stringify(each)}\n`).join('')
  const out = await new Promise<string>((resolve, reject) => {
    const options = { timeout: 15_000, maxBuffer: 10_000_000 }
    const child = execFile(process.execPath, [serverScript, ledgerFile()], options, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
    child.stdin?.end(lines)
  })
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result?: object })
  expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]))
  expect(answers).toHaveLength(7)
  for (const { result } of answers) expect(result).toBeDefined()
})

const entry = join(import.meta.dirname, '../../../src/surfaces/mcp/index.ts')
const library = join(import.meta.dirname, '../../../src/index.ts')
const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        if (!specifier.startsWith('@modelcontextprotocol/')) return next(specifier, context)
        throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
      },
    })
    const { createEngine } = await import(${JSON.stringify(library)})
    const { serveMcpStdio, serveMcpHttp, mcpFetchHandler } = await import(${JSON.stringify(entry)})
    const engine = await createEngine()
    const token = 'x'.repeat(32)
    const errors = []
    for (const serve of [
      () => serveMcpStdio(engine),
      () => serveMcpHttp(engine, { token }),
      () => mcpFetchHandler(engine, { token: false })(new Request('http://localhost/mcp')),
    ]) await serve().catch(({ code, message }) => errors.push(code + ' ' + message))
    await engine.close()
    console.log(JSON.stringify(errors))
  `

it('the MCP server names a missing package and the command that installs it', async () => {
  const out = await new Promise<string>((resolve, reject) => {
    const args = ['--input-type=module', '-e', program]
    execFile(process.execPath, args, { timeout: 15_000 }, (error, stdout) => (error ? reject(error) : resolve(stdout)))
  })
  const errors = JSON.parse(out) as string[]
  expect(errors).toHaveLength(3)
  for (const each of errors) expect(each).toMatch(/^NOT_OFFERED .*npm install @modelcontextprotocol\/server$/)
})
