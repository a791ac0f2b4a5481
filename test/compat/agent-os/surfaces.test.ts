// The abilities of Agent OS on the surfaces of a task manager's engine, beside the canonical ones.
import { expect, it, onTestFinished } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { createHttp } from '../../../src/surfaces/http/index.ts'
import { runScript } from '../../../src/surfaces/repl/index.ts'
import { ask, requestOf, token } from '../../surfaces/http/world.ts'
import { connectByHand, modernRequest } from '../../surfaces/mcp/world.ts'
import { openManager } from './world.ts'

it('HTTP serves a task of Agent OS from task:spawn over task:stream to the ledger, and the canonical abilities beside it', async () => {
  const { engine } = await openManager({ model: createScriptedModel([{ text: 'Q1 was good.' }]) })
  const http = createHttp(engine, { token })
  onTestFinished(() => http.close())
  const call = async (id: string, input: object) => (await ask(http, 'POST', `/abilities/${id}`, input)).body

  const { taskId, status } = await call('agent_os:task:spawn', { goal: 'Analyse Q1 sales data' })
  expect(status).toBe('running')
  const streamed = await http(requestOf('POST', '/abilities/agent_os:task:stream', { taskId }))
  const text = await streamed.text()
  for (const word of ['"type":"start"', 'Q1 was', '"status":"completed"']) expect(text).toContain(word)
  expect(await call('agent_os:ldg:task:get', { taskId })).toMatchObject({ task: { completionStatus: 'success' } })
  expect(await call('agent_os:task:list', { status: 'completed' })).toMatchObject({ total: 1 })

  expect((await ask(http, 'GET', `/tasks/${taskId}`)).body).toMatchObject({ task: { status: 'completed' } })
  const created = await ask(http, 'POST', '/tasks', { name: 'By hand' })
  expect(created).toMatchObject({ status: 201, body: { task: { status: 'submitted' } } })
  expect(Object.keys(http.openapi().paths)).toContain('/abilities/agent_os:task:kill')
})

it('HTTP checks scopes, inputs and limits of the abilities of Agent OS, and its errors name them', async () => {
  const { engine } = await openManager()
  const rights: Record<string, readonly ('read' | 'create')[]> = { reader: ['read'], creator: ['create'] }
  const http = createHttp(engine, {
    maxTasksPerRequest: 1,
    authenticate: ({ headers }) => ({ owner: 'ann', scopes: rights[headers.get('x-as') ?? ''] ?? ['admin'] }),
  })
  onTestFinished(() => http.close())
  const call = (as: string, id: string, input: object) =>
    ask(http, 'POST', `/abilities/agent_os:${id}`, input, { 'x-as': as })

  const theirs = await engine.create({ name: 'of another' })
  const { taskId } = (await call('creator', 'task:create', { goal: 'Go' })).body
  expect(await call('reader', 'task:get', { taskId })).toMatchObject({
    status: 200,
    body: { task: { status: 'pending' } },
  })
  for (const [as, id, input] of [
    ['reader', 'task:kill', { taskId }],
    ['reader', 'task:create', { goal: 'Go' }],
    ['creator', 'ldg:task:save', { task: { id: 'task-own' } }],
    ['creator', 'task:get', { taskId }],
  ] as const) {
    const { status, body } = await call(as, id, input)
    expect([id, status, body.details]).toMatchObject([id, 403, { abilityId: `agent_os:${id}` }])
  }
  expect((await call('creator', 'task:create', { goal: 'Go', parentTaskId: theirs.id })).status).toBe(404)
  const invalid = await call('admin', 'task:kill', {})
  expect(invalid).toMatchObject({ status: 400, body: { details: { abilityId: 'agent_os:task:kill' } } })
  const blockedBy = Array.from({ length: 11 }, () => theirs.id)
  expect((await call('admin', 'task:create', { goal: 'Go', blockedBy })).body).toMatchObject({ code: 'LIMIT_EXCEEDED' })
})

it('MCP offers the abilities of Agent OS as tools under names of their own, and those for programs not at all', async () => {
  const { engine } = await openManager()
  const client = connectByHand(engine, { abilities: ['agent_os:*', 'task:create'] })
  const { result } = await client.ask(modernRequest('tools/list'))
  const names = (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['task_create', 'agent_os_task_create', 'agent_os_task_kill']))
  expect(names.filter((name) => name.includes('ldg') || name.includes('stream'))).toEqual([])
  const { structuredContent } = await client.call('agent_os_task_create', { goal: 'Analyse Q1' })
  const { taskId } = structuredContent as { taskId: string }
  const { structuredContent: got } = await client.call('agent_os_task_get', { taskId })
  expect(got).toMatchObject({ task: { id: taskId, status: 'pending' } })
  client.input.end()
  await client.ended
})

it('the REPL calls the abilities of Agent OS', async () => {
  const { engine } = await openManager()
  const out: string[] = []
  const lines = [
    `/call agent_os:task:create {"goal": "Analyse Q1"}`,
    `(await abilities.agent_os.task.active({})).tasks.map(({ status }) => status)`,
  ]
  const write = (text: string) => out.push(text)
  expect(await runScript(engine, lines, { stdout: { write }, stderr: { write } })).toBe(0)
  expect(out.join('')).toMatch(/taskId.*\[ 'pending' \]\n$/s)
})
