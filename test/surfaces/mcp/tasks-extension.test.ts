// The Tasks extension of MCP on the wire: handles that are tasks of the ledger, polled, answered and canceled, only for clients that
// declare the extension.
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Run } from '../../../src/entities/executor.ts'
import { type McpFetchOptions, mcpFetchHandler } from '../../../src/surfaces/mcp/index.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { modernRequest, post, type Reply, tasksExtension, token } from './world.ts'

const declared = { extensions: { [tasksExtension]: {} }, elicitation: {} }

async function open(options: Partial<McpFetchOptions> = {}, ledger = ':memory:') {
  const goOn = Promise.withResolvers<unknown>()
  const engine = await openEngine({
    ledger,
    executors: {
      echo: (task: { input: unknown }) => task.input,
      fails: () => {
        throw new Error('No such luck')
      },
      until: () => goOn.promise,
      asks: async (task: { input: unknown }, run: Run) => run.ask('Well?', task.input as never, { for: 'anyone' }),
    },
  })
  const handler = mcpFetchHandler(engine, { token, abilities: allTools, ...options })
  onTestFinished(() => handler.close())
  const send = (method: string, params: Record<string, unknown>, capabilities: object = declared): Promise<Reply> =>
    post(handler, modernRequest(method, params, { ...capabilities }))
  const create = (input: object, capabilities: object = declared) =>
    send('tools/call', { name: 'task_create', arguments: { goal: 'It', ...input } }, capabilities)
  const get = async (taskId: string) => (await send('tasks/get', { taskId })).result as Record<string, any>
  return { engine, handler, goOn, send, create, get }
}

it('the Tasks extension is declared to clients of the modern era if tasks can be created', async () => {
  const { send } = await open()
  expect((await send('server/discover', {})).result).toMatchObject({
    capabilities: { extensions: { [tasksExtension]: {} } },
  })
  const { send: toReader } = await open({ abilities: ['task:get', 'task:list'] })
  expect((await toReader('server/discover', {})).result?.['capabilities']).not.toHaveProperty('extensions')
  expect((await toReader('tasks/get', { taskId: 'task-x' })).error?.code).toBe(-32_601)
})

it('the Tasks extension returns a durable handle for a call that starts work, which is polled to the result', async () => {
  const { engine, create, get, goOn } = await open()
  const { result } = await create({ executor: 'until' })
  const taskId = result?.['taskId'] as string
  const task = await engine.get(taskId)
  expect(result).toMatchObject({
    resultType: 'task',
    taskId,
    status: 'working',
    createdAt: new Date(task?.createdAt ?? 0).toISOString(),
    ttlMs: null,
    pollIntervalMs: expect.any(Number) as number,
  })
  expect(result).not.toHaveProperty('structuredContent')
  expect(await get(taskId)).toMatchObject({ resultType: 'complete', taskId, status: 'working' })
  goOn.resolve({ is: 'done' })
  await engine.result(taskId)
  expect(await get(taskId)).toMatchObject({
    resultType: 'complete',
    status: 'completed',
    result: { structuredContent: { taskId, status: 'completed', result: { is: 'done' } } },
  })
})

it('the Tasks extension returns in the result of a handle the output schema of the tool, as without a handle', async () => {
  const { engine, handler, create, get } = await open()
  const { result } = await post(handler, modernRequest('tools/list'))
  const tools = (result as { tools: Array<{ name: string; outputSchema: object }> }).tools
  const schema = z.fromJSONSchema(tools.find(({ name }) => name === 'task_create')?.outputSchema as never)
  const taskId = (await create({ executor: 'echo', input: 1 })).result?.['taskId'] as string
  await engine.result(taskId)
  expect(schema.safeParse((await get(taskId))['result'].structuredContent)).toMatchObject({ success: true })
  expect(schema.safeParse({ taskId })).toMatchObject({ success: false })
  const plain = (await create({ executor: 'echo' }, {})).result?.['structuredContent']
  expect(schema.safeParse(plain)).toMatchObject({ success: true })
})

it('the Tasks extension returns a handle that outlives the server', async () => {
  const ledger = ledgerFile()
  const first = await open({}, ledger)
  const taskId = (await first.create({ executor: 'asks', input: { type: 'string' } })).result?.['taskId'] as string
  await first.handler.close()
  await first.engine.close()
  const second = await open({}, ledger)
  expect(await second.get(taskId)).toMatchObject({
    taskId,
    status: expect.stringMatching(/^(working|input_required)$/) as string,
  })
})

it('the Tasks extension returns no handle to a client without the extension, nor for a task to be claimed', async () => {
  const { create } = await open()
  for (const [input, capabilities] of [
    [{ executor: 'echo' }, {}],
    [{ executor: 'echo' }, { extensions: { other: {} } }],
    [{ goal: undefined, name: 'It' }, declared],
  ] as const) {
    const { result } = await create(input, capabilities)
    expect(result).toMatchObject({
      resultType: 'complete',
      structuredContent: { taskId: expect.any(String) as string },
    })
  }
})

it('the Tasks extension maps a failed task to completed with an error; `failed` is for protocol errors', async () => {
  const { engine, create, get } = await open()
  const taskId = (await create({ executor: 'fails' })).result?.['taskId'] as string
  await engine.settled(taskId)
  const { status, statusMessage, result } = await get(taskId)
  expect({ status, statusMessage }).toEqual({ status: 'completed', statusMessage: 'No such luck' })
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('No such luck') as string }],
  })
})

it('the Tasks extension cancels on request, and ignores a cancellation of a task that has ended', async () => {
  const { engine, create, send, get } = await open()
  const taskId = (await create({ executor: 'until' })).result?.['taskId'] as string
  const { result } = await send('tasks/cancel', { taskId })
  expect(result).toMatchObject({ resultType: 'complete' })
  expect(await engine.settled(taskId)).toMatchObject({ status: 'canceled' })
  expect(await get(taskId)).toMatchObject({ status: 'cancelled' })
  expect((await send('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' })
})

it('the Tasks extension refuses invalid requests with errors of the protocol', async () => {
  const { send, create } = await open()
  const taskId = (await create({ executor: 'echo' })).result?.['taskId'] as string
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const params = { inputResponses: {} }
    expect((await send(method, { taskId: 'task-nowhere', ...params })).error).toMatchObject({ code: -32_602 })
    expect((await send(method, { taskId: '', ...params })).error).toMatchObject({ code: -32_602 })
    expect((await send(method, { taskId, ...params }, {})).error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    })
  }
  for (const method of ['tasks/list', 'tasks/result'])
    expect((await send(method, { taskId })).error?.code).toBe(-32_601)
})

const toJson = (schema: z.ZodType) => z.toJSONSchema(schema)

const questions: Array<[string, object | null, object, object, unknown]> = [
  [
    'anything',
    null,
    { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    { answer: 'blue' },
    'blue',
  ],
  [
    'a choice',
    toJson(z.enum(['red', 'blue'])),
    { properties: { answer: { type: 'string', enum: ['red', 'blue'] } } },
    { answer: 'red' },
    'red',
  ],
  ['a yes', toJson(z.boolean()), { properties: { answer: { type: 'boolean' } } }, { answer: true }, true],
  [
    'a form',
    toJson(z.object({ name: z.string(), age: z.int().min(0).max(150).optional() })),
    {
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0, maximum: 150 } },
      required: ['name'],
    },
    { name: 'Ada', age: 36 },
    { name: 'Ada', age: 36 },
  ],
  [
    'what no form holds',
    toJson(z.object({ tags: z.array(z.string()) })),
    { properties: { answer: { type: 'string', description: expect.stringContaining('tags') as string } } },
    { answer: '{"tags":["a"]}' },
    { tags: ['a'] },
  ],
]

async function asking(schema: object | null) {
  const world = await open()
  const taskId = (await world.create({ executor: 'asks', input: schema })).result?.['taskId'] as string
  const asked = Promise.withResolvers<void>()
  world.engine.subscribe('task.input_required', () => asked.resolve())
  if ((await world.engine.get(taskId))?.status !== 'input_required') await asked.promise
  const handle = await world.get(taskId)
  const [key] = Object.keys((handle['inputRequests'] as object | undefined) ?? {})
  return { ...world, taskId, handle, key: key as string }
}

it.each(questions)(
  'a question of a handle for %s is a form for the user, whose submission is the answer',
  async (_what, schema, form, content, answer) => {
    const { engine, send, taskId, handle, key } = await asking(schema)
    expect(handle).toMatchObject({ status: 'input_required', statusMessage: 'Well?' })
    expect(handle['inputRequests']).toEqual({
      [key]: {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'Well?', requestedSchema: expect.objectContaining(form) as object },
      },
    })
    const { result } = await send('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept', content } },
    })
    expect(result).toMatchObject({ resultType: 'complete' })
    expect(await engine.result(taskId)).toEqual(answer)
  },
)

it('a question of a handle stays open when the user declines, when the answer is for another question, and when it is invalid', async () => {
  const { engine, send, taskId, key } = await asking(toJson(z.boolean()))
  const update = (inputResponses: object) => send('tasks/update', { taskId, inputResponses })
  expect((await update({ [key]: { action: 'decline' } })).result).toBeDefined()
  expect((await update({ other: { action: 'accept', content: { answer: true } } })).result).toBeDefined()
  expect((await update({ [key]: { action: 'accept', content: { answer: 'maybe' } } })).error).toMatchObject({
    code: -32_602,
    data: { code: 'INVALID_ANSWER' },
  })
  expect((await engine.get(taskId))?.status).toBe('input_required')
  await update({ [key]: { action: 'accept', content: { answer: false } } })
  expect(await engine.result(taskId)).toBe(false)
  expect((await update({ [key]: { action: 'accept', content: { answer: true } } })).result).toBeDefined()
})

it('a handle with a question is shown as working to a client that cannot ask its user', async () => {
  const { send, taskId } = await asking(null)
  const { result } = await send('tasks/get', { taskId }, { extensions: declared.extensions })
  expect(result).toMatchObject({ status: 'working', statusMessage: 'Well?' })
  expect(result).not.toHaveProperty('inputRequests')
})
