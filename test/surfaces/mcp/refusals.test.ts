// What a model may not do over MCP, whatever it is prompted to do: approve instead of a person, run commands, call abilities that are not
// for models.
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../../src/bus/ability.ts'
import { createShell } from '../../../src/commands/shell.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { type McpStdioOptions, serveMcpHttp } from '../../../src/surfaces/mcp/index.ts'
import { llm, tool } from '../../agents/world.ts'
import { openEngine, reached } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { connectByHand, connectHttp, eras, modernRequest, tasksExtension, token, toolErrorOf } from './world.ts'

function connect(engine: Engine, options: McpStdioOptions = {}) {
  const client = connectByHand(engine, { as: 'ada', ...options })
  onTestFinished(() => void client.input.end())
  return client
}

const asking = async () => {
  const engine = (await openEngine({
    executors: { work: (_task: unknown, run: Run) => run.ask('Sure?') },
  })) as unknown as Engine
  return { engine, task: await reached(engine, await engine.create({ executor: 'work' }), 'input_required') }
}

it.each(eras)(
  'I25 a question to people is not answered by an MCP client of the %s era, with the id of the question or without',
  async (era) => {
    const { engine, task } = await asking()
    const server = await serveMcpHttp(engine, { token, abilities: allTools })
    onTestFinished(() => server.close())
    for (const headers of [{}, { 'x-errand-agent': 'ada' }] as Array<Record<string, string>>) {
      const client = await connectHttp(era, server.url, headers)
      for (const question of [{}, { question: task.questions[0]?.id }]) {
        const refused = toolErrorOf(await client.call('task_answer', { taskId: task.id, value: 'yes', ...question }))
        expect(refused).toMatchObject({
          code: 'FORBIDDEN',
          message: expect.stringContaining('for people') as string,
        })
      }
    }
    expect((await engine.get(task))?.status).toBe('input_required')
    await engine.answer(task, 'yes')
    expect(await engine.result(task)).toBe('yes')
  },
)

it('I25 a question to people may not be answered over MCP by a message or by the form of a handle', async () => {
  const { engine, task } = await asking()
  const client = connect(engine)
  await client.call('task_send', { taskId: task.id, message: 'yes' })
  const [question] = task.questions
  const inputResponses = { [question?.id as string]: { action: 'accept', content: { answer: 'yes' } } }
  const capabilities = { elicitation: {}, extensions: { [tasksExtension]: {} } }
  const answer = await client.ask(modernRequest('tasks/update', { taskId: task.id, inputResponses }, capabilities))
  expect(answer['error']).toMatchObject({ code: -32_602, data: { code: 'FORBIDDEN' } })
  expect((await engine.get(task))?.status).toBe('input_required')
})

it('I25 a question about the approval of a tool waits for a person, also over MCP', async () => {
  const sent: unknown[] = []
  const letter = tool('mail:send', (input) => sent.push(input), { confirm: true })
  const model = llm((_input, step) =>
    step === 1 ? { toolCalls: [{ id: 'a', name: 'mail_send', arguments: {} }] } : { content: 'So be it.' },
  )
  const engine = (await openEngine({ abilities: [model.ability, letter] })) as unknown as Engine
  const client = connect(engine)
  const created = await client.call('task_create', { goal: 'Write to Ada' })
  const taskId = created.structuredContent?.['taskId'] as string
  await reached(engine, taskId, 'input_required')
  const waited = await client.call('task_wait', { taskIds: [taskId], timeoutMs: 1 })
  expect(waited.content[1]?.text).toContain(taskId)
  const refused = await client.call('task_answer', { taskId, value: { approved: true } })
  expect(toolErrorOf(refused).code).toBe('FORBIDDEN')
  expect(sent).toEqual([])
  await engine.answer(taskId, { approved: true })
  await engine.result(taskId)
  expect(sent).toHaveLength(1)
})

it('a command requested over MCP is refused: no task or board task is created for an executor that runs commands', async () => {
  const engine = (await openEngine({ executors: { shell: createShell(), echo: () => 'said' } })) as unknown as Engine
  const client = connect(engine)
  for (const [name, input] of [
    ['task_create', { goal: 'List', executor: 'shell', input: { run: 'ls' } }],
    ['board_create', { subject: 'List', executor: 'shell', input: { run: 'ls' } }],
  ] as const) {
    expect(toolErrorOf(await client.call(name, input))).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('executor of your own') as string,
    })
  }
  expect(await engine.list()).toMatchObject({ total: 0 })
  // Any other executor may be named.
  const { task } = (await client.call('board_create', { subject: 'Say', executor: 'echo' })).structuredContent as {
    task: { taskId: string }
  }
  expect(await engine.result(task.taskId)).toBe('said')
})

it('V-04 a model named over MCP that the engine does not offer is refused, whatever the name would resolve to', async () => {
  const asked: string[] = []
  const engine = (await openEngine({
    models: { small: createScriptedModel([{ text: 'said' }]) },
    resolveModel: (id) => {
      asked.push(id)
      return undefined
    },
  })) as unknown as Engine
  const client = connect(engine)
  for (const model of ['openai:gpt-5', 'script:/etc/passwd', 'script:../notes.yaml', 'other']) {
    const refused = toolErrorOf(await client.call('task_create', { goal: 'Look', model }))
    expect(refused.code).toBe('FORBIDDEN')
    expect(refused.message).toContain('Offered models: small')
  }
  const { taskId } = (await client.call('task_create', { goal: 'Look', model: 'small' })).structuredContent as {
    taskId: string
  }
  expect([await engine.result(taskId), asked]).toEqual(['said', []])
})

it('an ability that is not for models is no MCP tool under any pattern, and cannot be called by name', async () => {
  const engine = (await openEngine()) as unknown as Engine
  const calls: unknown[] = []
  const schema = z.strictObject({})
  engine.bus.register(
    defineAbility({
      id: 'board:burn',
      description: 'Burns it.',
      models: false,
      input: schema,
      output: schema,
      handle: () => {
        calls.push('burnt')
        return {}
      },
    }),
  )
  const client = connect(engine, { abilities: ['*', 'board:burn', 'board:open'] })
  const { result } = await client.ask(modernRequest('tools/list'))
  const names = (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)
  expect(names).toContain('board_create')
  for (const name of ['board_burn', 'board:burn', 'board_open', 'board:open']) {
    expect(names).not.toContain(name)
    const answer = await client.ask(modernRequest('tools/call', { name, arguments: {} }))
    expect(answer['error']).toMatchObject({ code: -32_602 })
  }
  expect(calls).toEqual([])
})
