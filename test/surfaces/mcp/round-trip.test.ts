// The published MCP clients of both eras of the protocol, over both transports, against one engine: what they receive, and that the work
// they have started continues without them.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../../src/engine/engine-api.ts'
import { serveMcpHttp } from '../../../src/surfaces/mcp/index.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import {
  type Answer,
  type AnyClient,
  connectHttp,
  connectStdio,
  type Era,
  eras,
  token,
  toolErrorOf,
  withProcesses,
} from './world.ts'

const taskTools = [
  'task_answer',
  'task_cancel',
  'task_create',
  'task_get',
  'task_list',
  'task_messages',
  'task_send',
  'task_wait',
]

const executors = {
  echo: (task: { input: unknown }) => ({ said: task.input }),
  fails: () => {
    throw new Error('No such luck')
  },
}

async function overHttp(era: Era): Promise<AnyClient> {
  const engine = await openEngine({ executors })
  const server = await serveMcpHttp(engine, { token, abilities: allTools })
  onTestFinished(() => server.close())
  return connectHttp(era, server.url)
}

const transports = { http: overHttp, stdio: (era: Era) => connectStdio(era, ledgerFile()) }
const all = eras.flatMap((era) => Object.entries(transports).map(([name, connect]) => ({ era, name, connect })))

describe.each(all)('For an MCP client of the $era era over $name', withProcesses, ({ era, connect }) => {
  it('an MCP client lists tools with portable schemas, creates a task, waits for it and reads its result', async () => {
    const client = await connect(era)
    const tools = await client.tools()
    expect(tools.map(({ name }) => name).filter((name) => name.startsWith('task_'))).toEqual(taskTools)
    for (const tool of tools) {
      expect(tool).toMatchObject({
        description: expect.stringMatching(/\.\)?$/) as string,
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
      })
      expect(Object.keys(tool.inputSchema).filter((key) => /^(\$ref|oneOf|anyOf|allOf)$/.test(key))).toEqual([])
    }

    const created = await client.call('task_create', { goal: 'Say hello', executor: 'echo', input: { hello: 'world' } })
    const taskId = created.structuredContent?.['taskId'] as string
    expect(created.structuredContent).toMatchObject({ taskId, branch: null, task: { id: taskId, executor: 'echo' } })
    expect(created.content).toEqual([{ type: 'text', text: JSON.stringify(created.structuredContent) }])
    const waited = await client.call('task_wait', { taskIds: [taskId] })
    const result = { said: { hello: 'world' } }
    expect(waited.structuredContent).toEqual({ tasks: [{ taskId, status: 'completed', result }] })
    const shown = await client.call('task_get', { taskId })
    expect(shown.structuredContent).toMatchObject({
      task: { id: taskId, goal: 'Say hello', status: 'completed', result },
    })
    expect((await client.call('task_list', { status: 'completed' })).structuredContent).toMatchObject({ total: 1 })
  })

  it('an MCP client receives the code and message of a failure, of invalid input and of an unknown task, and no internals', async () => {
    const client = await connect(era)
    const created = await client.call('task_create', { goal: 'Try', executor: 'fails' })
    const taskId = created.structuredContent?.['taskId'] as string
    expect((await client.call('task_wait', { taskIds: [taskId] })).structuredContent).toEqual({
      tasks: [{ taskId, status: 'failed', error: 'No such luck' }],
    })
    expect(toolErrorOf(await client.call('task_create', { goal: 7 }))).toMatchObject({
      code: 'INVALID_INPUT',
      details: { abilityId: 'task:create', issues: [{ path: 'goal' }] },
    })
    const unknown = toolErrorOf(await client.call('task_get', { taskId: 'task-nowhere' }))
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('task-nowhere') as string })
    expect(JSON.stringify(unknown)).not.toMatch(/\.ts\b|node_modules|stack|\bSELECT\b/)
    await expect(client.call('ldg_task_get', { id: taskId })).rejects.toMatchObject({ code: -32_602 })
  })
})

describe.each(eras)('For an MCP client of the %s era', withProcesses, (era) => {
  it('a task of an MCP client continues when its process over stdio exits in the middle of a wait', async () => {
    const ledger = ledgerFile()
    const file = join(dirname(ledger), 'go-on')
    const first = await connectStdio(era, ledger)
    const created = await first.call('task_create', { goal: 'Wait', executor: 'until', input: { file } })
    const taskId = created.structuredContent?.['taskId'] as string
    const isCutShort = (answer: Answer | null) =>
      answer === null || isDeepStrictEqual(answer.structuredContent, { tasks: [{ taskId, status: 'open' }] })
    const waiting = first.call('task_wait', { taskIds: [taskId] }).catch((error: Error) => error)
    await first.close()
    // Some clients still read responses while they close, some do not.
    const outcome = await waiting
    expect(outcome instanceof Error ? null : outcome).toSatisfy(isCutShort)

    const second = await connectStdio(era, ledger)
    expect((await second.call('task_get', { taskId })).structuredContent).toMatchObject({
      task: { status: expect.stringMatching(/^(working|waiting)$/) as string },
    })
    writeFileSync(file, '')
    expect((await second.call('task_wait', { taskIds: [taskId] })).structuredContent).toEqual({
      tasks: [{ taskId, status: 'completed', result: 'seen' }],
    })
  })

  it('a task of an MCP client continues when its call over HTTP is aborted', async () => {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<string>()
    const engine: Engine = await openEngine({
      executors: {
        until: () => {
          begun.resolve()
          return goOn.promise
        },
      },
    })
    const waitEnded = Promise.withResolvers<unknown>()
    engine.bus.onCall(({ abilityId, ok }) => void (abilityId === 'task:wait' && waitEnded.resolve(ok)))
    const server = await serveMcpHttp(engine, { token, abilities: allTools })
    onTestFinished(() => server.close())
    const client = await connectHttp(era, server.url)
    const created = await client.call('task_create', { goal: 'Wait', executor: 'until' })
    const taskId = created.structuredContent?.['taskId'] as string
    await begun.promise
    const disconnected = new AbortController()
    const waiting = client
      .call('task_wait', { taskIds: [taskId] }, { signal: disconnected.signal })
      .catch((error: unknown) => error)
    await client.tools()
    disconnected.abort()
    await waiting
    await client.close()
    // The ability was notified: the wait has ended, and only the wait.
    expect(await waitEnded.promise).toBe(false)
    expect((await engine.get(taskId))?.status).toBe('working')
    goOn.resolve('done')
    expect(await engine.result(taskId)).toBe('done')
  })
})
