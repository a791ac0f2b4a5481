// The routes of teams: the work of several agents on one task over HTTP, and how refusals are answered.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { openWorld, problemIn } from './world.ts'

async function teamWorld() {
  const world = await openWorld()
  const created = await world.ask('POST', '/tasks', {
    name: 'Fix the login',
    description: 'Users are logged out',
    objectives: ['Fix the middleware', 'Cover it with tests'],
  })
  return { ...world, created, taskId: created.body.taskId as string }
}

it('S2-050 X-030 POST /tasks creates a task with its objectives and its branch, and returns its location', async () => {
  const { ask, created, taskId } = await teamWorld()
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(`/tasks/${taskId}`)
  expect(created.body.branch).toMatch(/fix/)
  const shown = await ask('GET', created.headers.get('location') as string)
  expect(shown.body.task.name).toBe('Fix the login')
  expect(shown.headers.get('etag')).toBe(`"${shown.body.task.version}"`)
  const { body } = await ask('GET', `/tasks/${taskId}/context`)
  expect(body.objectives.map(({ id, status }: { id: number; status: string }) => [id, status])).toEqual([
    [1, 'todo'],
    [2, 'todo'],
  ])
})

it('S2-050 S2-001 POST /tasks with only a name gives the task a branch, and agents join it', async () => {
  const { ask, engine } = await openWorld({}, { model: createScriptedModel([{ text: 'taken up' }]) })
  const { status, body } = await ask('POST', '/tasks', { name: 'Fix the login' })
  expect([status, body.branch]).toEqual([201, 'task/fix-the-login'])
  const described = await ask('POST', '/tasks', {
    name: 'Fix it',
    description: 'Users are logged out',
    type: 'bug_fix',
  })
  expect(described.body.branch).toBe('task/fix-it')
  const joined = await ask('POST', `/tasks/${body.taskId}/join`, { agent_id: 'ann' })
  expect(joined.body.branch).toBe('task/fix-the-login/ann')
  // No agent of the engine works on it.
  await engine.idle()
  expect((await ask('GET', `/tasks/${body.taskId}`)).body.task).toMatchObject({ executor: null, goal: null, run: 0 })
})

it('S2-050 the routes of teams accept snake_case keys, too', async () => {
  const { ask } = await openWorld()
  const { status, body } = await ask('POST', '/tasks', {
    name: 'A',
    objectives: [{ description: 'One' }],
    parent_branch: 'main',
    durable_threshold: 0.9,
  })
  expect(status).toBe(201)
  expect(body.branch).not.toBeNull()
  // The values are applied, not just accepted.
  const refused = async (more: object) => problemIn(await ask('POST', '/tasks', { name: 'B', ...more }))
  expect(await refused({ durable_threshold: 2 })).toMatchObject({ code: 'INVALID_INPUT', status: 400 })
  expect(await refused({ parent_branch: 'nowhere' })).toMatchObject({ code: 'NOT_FOUND', status: 404 })
})

it('S2-051 POST /tasks/{id}/join returns the branch of the agent and the context of the team', async () => {
  const { ask, taskId } = await teamWorld()
  const { status, body } = await ask('POST', `/tasks/${taskId}/join`, {
    agent_id: 'ann',
    role: 'implementer',
    objectives: [1],
  })
  expect(status).toBe(200)
  expect(body.branch).toMatch(/ann$/)
  expect(body.context.objectives[0]).toMatchObject({ id: 1, status: 'active', agentId: 'ann' })
})

it('S2-052 S2-053 S2-054 an agent completes its objective and its work over HTTP, and the task is completed', async () => {
  const { ask, taskId } = await teamWorld()
  await ask('POST', `/tasks/${taskId}/join`, { agentId: 'ann' })
  const updated = await ask('PATCH', `/tasks/${taskId}/objectives/2`, { status: 'done', notes: 'covered' })
  expect(updated.body.objectives[1]).toMatchObject({ id: 2, status: 'done', notes: 'covered' })
  const agent = await ask('POST', `/tasks/${taskId}/agents/ann/complete`, { summary: 'did it' })
  expect(agent.status).toBe(200)
  expect(agent.body).toHaveProperty('consolidation')
  const done = await ask('POST', `/tasks/${taskId}/complete`, { summary: 'fixed' })
  expect(done.body).toMatchObject({ taskId, status: 'completed' })
  const { body } = await ask('GET', '/agents/ann/timeline')
  expect(body.stints).toMatchObject([{ taskId, status: 'completed', summary: 'did it' }])
})

it('S2-055 POST /tasks/{id}/consolidate consolidates at each level', async () => {
  const { ask, engine, taskId } = await teamWorld()
  await ask('POST', `/tasks/${taskId}/join`, { agentId: 'ann' })
  await engine.bus.call('mem:observe', {
    taskId,
    agentId: 'ann',
    sessionId: 's1',
    type: 'decision',
    content: 'Tokens are renewed by the middleware',
  } as never)
  const consolidate = (body: object) => ask('POST', `/tasks/${taskId}/consolidate`, body)
  const session = await consolidate({ level: 'session', session_id: 's1' })
  expect(session.status).toBe(200)
  expect(session.body).toMatchObject({ historyId: expect.any(String) })
  expect((await consolidate({ level: 'agent', agentId: 'ann' })).status).toBe(200)
  const task = await consolidate({ level: 'task' })
  expect(task.status).toBe(200)
  expect(task.body).toHaveProperty('durable')
})

it('S2-056 GET /tasks lists tasks, filtered by the query', async () => {
  const { ask, taskId } = await teamWorld()
  await ask('POST', '/tasks', { name: 'Another' })
  const names = async (query: string) =>
    (await ask('GET', `/tasks${query}`)).body.tasks.map(({ name }: { name: string }) => name)
  expect(await names('')).toEqual(['Fix the login', 'Another'])
  expect(await names(`?ids=${taskId}`)).toEqual(['Fix the login'])
  expect(await names('?text=another')).toEqual(['Another'])
  expect(await names('?status=completed,failed')).toEqual([])
  expect(await names('?status=submitted,working&limit=1')).toEqual(['Fix the login'])
  expect(await names('?parentId=null')).toEqual(['Fix the login', 'Another'])
  expect(await names(`?parentId=${taskId}`)).toEqual([])
})

it('S2-007 S2-056 GET /tasks accepts the statuses of other vocabularies, and the type of work in either spelling', async () => {
  const { ask, taskId } = await teamWorld()
  await ask('POST', '/tasks', { name: 'A bug', type: 'bug_fix' })
  const { body } = await ask('POST', '/tasks', { name: 'Another bug', type: 'bug_fix' })
  await ask('POST', `/tasks/${body.taskId}/cancel`, { reason: 'none' })
  await ask('POST', `/tasks/${taskId}/start`, {})
  const names = async (query: string) => {
    const reply = await ask('GET', `/tasks${query}`)
    expect([query, reply.status]).toEqual([query, 200])
    return reply.body.tasks.map(({ name }: { name: string }) => name)
  }
  expect(await names('?status=active&task_type=bug_fix')).toEqual(['A bug'])
  expect(await names('?taskType=bug_fix')).toEqual(['A bug', 'Another bug'])
  expect(await names('?type=bug_fix&status=killed')).toEqual(['Another bug'])
  expect(await names('?status=active')).toEqual(['Fix the login', 'A bug'])
  expect(await names('?status=running')).toEqual(['Fix the login'])
  expect(await names('?status=pending,in_progress')).toEqual(['Fix the login', 'A bug'])
  expect(await names('?status=cancelled&status=success')).toEqual(['Another bug'])
  const shown = (await ask('GET', '/tasks?status=running')).body.tasks[0]
  expect(shown.status).toBe('working')
  for (const query of ['?status=actve', '?status=working,actve']) {
    const refused = problemIn(await ask('GET', `/tasks${query}`))
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining('Did you mean "active"?') })
  }
})

it('S2-056 pages of GET /tasks continue where the previous one ended', async () => {
  const { ask } = await openWorld()
  for (const name of ['a', 'b', 'c']) await ask('POST', '/tasks', { name })
  const names: string[] = []
  let after: number | null = 0
  while (after !== null) {
    const { body } = await ask('GET', `/tasks?limit=2&after=${after}`)
    names.push(...body.tasks.map(({ name }: { name: string }) => name))
    after = body.next
  }
  expect(names).toEqual(['a', 'b', 'c'])
})

it('S2-057 X-032 the routes of teams answer 404 for an unknown task, 409 for an agent that has already joined, 400 for invalid input', async () => {
  const { ask, taskId } = await teamWorld()
  await ask('POST', `/tasks/${taskId}/join`, { agentId: 'ann' })
  const refused = async (method: string, path: string, body?: unknown) => {
    const { status, code } = problemIn(await ask(method, path, body))
    return [status, code]
  }
  expect(await refused('GET', '/tasks/missing')).toEqual([404, 'NOT_FOUND'])
  expect(await refused('POST', '/tasks/missing/join', { agentId: 'ann' })).toEqual([404, 'NOT_FOUND'])
  expect(await refused('POST', `/tasks/${taskId}/join`, { agentId: 'ann' })).toEqual([409, 'ALREADY_ACTIVE'])
  expect(await refused('POST', `/tasks/${taskId}/agents/bob/complete`)).toEqual([404, 'NOT_FOUND'])
  expect(await refused('POST', `/tasks/${taskId}/complete`)).toEqual([409, 'AGENTS_ACTIVE'])
  expect(await refused('POST', `/tasks/${taskId}/consolidate`, { level: 'galaxy' })).toEqual([400, 'INVALID_INPUT'])
  expect(await refused('POST', `/tasks/${taskId}/consolidate`, {})).toEqual([400, 'INVALID_INPUT'])
  expect(await refused('PATCH', `/tasks/${taskId}/objectives/9`, { status: 'done' })).toEqual([404, 'NOT_FOUND'])
  expect(await refused('PATCH', `/tasks/${taskId}/objectives/one`, { status: 'done' })).toEqual([400, 'INVALID_INPUT'])
  expect(await refused('POST', '/tasks', {})).toEqual([400, 'INVALID_INPUT'])
})

it("S2-058 the routes and the abilities of teams see each other's changes", async () => {
  const { ask, engine, taskId } = await teamWorld()
  await engine.bus.call('agent:join', { taskId, agentId: 'ann' })
  const { body } = await ask('GET', `/tasks/${taskId}/context`)
  expect(body).toEqual(await engine.bus.call('task:context', { taskId }))
  expect(body.activeAgents).toMatchObject([{ agentId: 'ann' }])
})
