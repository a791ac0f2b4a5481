// One connection over standard input and output, spoken by hand: when it ends, what is told to it, and what it needs to begin.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentSession, type McpStdioOptions, serveMcpStdio } from '../../../src/surfaces/mcp/index.ts'
import { openEngine, refusalOf } from '../../engine/world.ts'
import { modernRequest, tasksExtension } from './world.ts'

async function serve(options: McpStdioOptions = {}) {
  const engine = await openEngine({ executors: { echo: (task: { input: unknown }) => task.input } })
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const ended = serveMcpStdio(engine, { input, output, ...options })
  const lines = output[Symbol.asyncIterator]() as AsyncIterator<string>
  let rest = ''
  /** The next message that the server writes. */
  const next = async (): Promise<Record<string, any>> => {
    while (!rest.includes('\n')) rest += (await lines.next()).value as string
    const line = rest.slice(0, rest.indexOf('\n'))
    rest = rest.slice(line.length + 1)
    return JSON.parse(line) as Record<string, any>
  }
  const send = (message: object) => void input.write(`${JSON.stringify(message)}\n`)
  const ask = async (message: object) => {
    send(message)
    return next()
  }
  return { engine, input, ended, next, send, ask }
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const create = (input: object) =>
  modernRequest('tools/call', { name: 'task_create', arguments: { goal: 'It', ...input } })

describe('A server over stdio', () => {
  it('ends with its client, after what is under way, and leaves the engine open', async () => {
    const { engine, input, ended, ask } = await serve()
    const { result } = await ask(create({ executor: 'echo', input: 7 }))
    input.end()
    await ended
    expect(await engine.result((result as { structuredContent: { taskId: string } }).structuredContent.taskId)).toBe(7)
  })

  it('ends when it is told to, at any time', async () => {
    const already = await serve({ signal: AbortSignal.abort() })
    await already.ended
    const stop = new AbortController()
    const { ended, ask } = await serve({ signal: stop.signal })
    expect((await ask(modernRequest('server/discover'))).result).toMatchObject({ supportedVersions: ['2026-07-28'] })
    stop.abort()
    await ended
  })

  it('makes the task of a client that does not wait for the answer', async () => {
    const { engine, input, ended, send } = await serve()
    const called = Promise.withResolvers<void>()
    engine.bus.onCall(() => called.resolve())
    send(create({ executor: 'echo', input: 7 }))
    await called.promise
    input.end()
    await ended
    expect(await engine.list()).toMatchObject({ tasks: [{ executor: 'echo' }] })
  })

  it('has one session for its one agent, which ends with it', async () => {
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

  it('tells a client of the older era that there are other tools now', async () => {
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

  it('gives handles to a client that declares the Tasks extension', async () => {
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

  it('refuses options that are none', async () => {
    const engine = await openEngine()
    await refusalOf(serveMcpStdio(engine, { agent: 'x' } as never), 'UNKNOWN_OPTION')
    await refusalOf(serveMcpStdio(engine, { as: 'two words' }), 'INVALID_INPUT')
    await refusalOf(serveMcpStdio(engine, { abilities: ['board'] }), 'INVALID_INPUT')
  })
})

describe('Without the package of the protocol', () => {
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
    const told = []
    for (const serve of [
      () => serveMcpStdio(engine),
      () => serveMcpHttp(engine, { token }),
      () => mcpFetchHandler(engine, { token: false })(new Request('http://localhost/mcp')),
    ]) await serve().catch(({ code, message }) => told.push(code + ' ' + message))
    await engine.close()
    console.log(JSON.stringify(told))
  `

  it('says what is missing and how to get it', async () => {
    const out = await new Promise<string>((resolve, reject) => {
      const args = ['--input-type=module', '-e', program]
      execFile(process.execPath, args, { timeout: 15_000 }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
    })
    const told = JSON.parse(out) as string[]
    expect(told).toHaveLength(3)
    for (const each of told) expect(each).toMatch(/^NOT_OFFERED .*npm install @modelcontextprotocol\/server$/)
  })
})
