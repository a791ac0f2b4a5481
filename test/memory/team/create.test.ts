// Creating tasks for teams: their fields, their branches, and that none is created partially.
import { describe, expect, it } from 'vitest'
import { agent } from '../../../src/agents/loop/agent.ts'
import { history, refusalOf } from '../../engine/world.ts'
import { heldModel, modelOf } from '../../operations/world.ts'
import { allRows, branchStatus, joins, openTeams, openWithRows, teamTask } from './world.ts'

describe('task:create for a team', () => {
  it('S2-001 S2-006 S2-025 task:create accepts name, description, objectives, parent branch, type and tags; the task is active', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, {
      name: 'Fix Auth',
      description: 'Sessions end too early.',
      type: 'bug_fix',
      tags: ['auth', 'urgent'],
      objectives: ['Find it', { description: 'Fix it' }],
      parentBranch: 'main',
    })
    const context = await team.call('task:context', { taskId })
    expect(context['task']).toMatchObject({
      id: taskId,
      name: 'Fix Auth',
      description: 'Sessions end too early.',
      type: 'bug_fix',
      tags: ['auth', 'urgent'],
      status: 'submitted',
      branch: 'task/fix-auth',
      parentBranch: 'main',
      summary: null,
      completedAt: null,
    })
    expect(context['objectives']).toEqual([
      { id: 1, description: 'Find it', status: 'todo', agentId: null, notes: null },
      { id: 2, description: 'Fix it', status: 'todo', agentId: null, notes: null },
    ])
  })

  it('S2-002 S2-009 S2-037 task:create makes a branch below the parent branch and lists it', async () => {
    const team = await openWithRows()
    const outer = await teamTask(team, { name: 'Outer', description: 'All of it' })
    const inner = await teamTask(team, { name: 'Inner', parentBranch: outer.branch })
    const rows = await team.ledger.read((tx) => tx.branch.list({}, 10, 0))
    expect(rows.map(({ name, parent, status, taskId }) => [name, parent, status, taskId])).toEqual([
      ['main', null, 'active', null],
      ['task/outer', 'main', 'active', outer.taskId],
      ['task/inner', 'task/outer', 'active', inner.taskId],
    ])
    expect(rows[1]?.description).toBe('Outer')
  })

  it.each([
    ['Fix OAuth2 Bug', 'task/fix-oauth2-bug'],
    ['  Multiple   Spaces  ', 'task/multiple-spaces'],
    ['Special!@#Chars', 'task/specialchars'],
  ])('S2-003 task:create names the branch of %j %s', async (name, branch) => {
    expect((await teamTask(await openTeams(), { name })).branch).toBe(branch)
  })

  it.each(['!!!', '修复登录', '🐛'])(
    'S2-004 task:create gives %j, which has no letters for a slug, a branch of its own',
    async (name) => {
      const team = await openTeams()
      const [one, other] = [await teamTask(team, { name }), await teamTask(team, { name })]
      expect(one.branch).toBe(`task/${one.taskId.replace('task-', '')}`)
      expect(other.branch).not.toBe(one.branch)
    },
  )

  it('S2-005 task:create gives tasks with the same name distinct branches', async () => {
    const team = await openTeams()
    const branches: string[] = []
    for (let n = 0; n < 12; n++) branches.push((await teamTask(team)).branch)
    expect(branches.slice(0, 3)).toEqual(['task/fix-auth', 'task/fix-auth-2', 'task/fix-auth-3'])
    expect(new Set(branches).size).toBe(12)
  })

  it('S2-008 S2-005 S2-108 task:create refuses an unknown or archived parent branch and creates nothing', async () => {
    const team = await openWithRows()
    const closed = await teamTask(team, { name: 'Closed' })
    await team.call('task:complete', { taskId: closed.taskId, archive: true })
    const before = [await history(team.engine), await allRows(team.ledger, closed.taskId)]
    const unknown = await refusalOf(team.call('task:create', { name: 'Lost', parentBranch: 'nowhere' }), 'NOT_FOUND')
    expect(unknown.message).toContain('There is no branch "nowhere"')
    await refusalOf(team.call('task:create', { name: 'Late', parentBranch: closed.branch }), 'BRANCH_CLOSED')
    expect([await history(team.engine), await allRows(team.ledger, closed.taskId)]).toEqual(before)
    expect((await team.engine.list()).total).toBe(1)
  })

  it('S2-001 task:create without a name uses the first line of the description, and the task waits for agents', async () => {
    const team = await openTeams({ model: heldModel().model })
    const description = `${'Sessions end too early '.repeat(5)}\nand the cause is unknown.`
    const { taskId } = (await team.call('task:create', { description })) as { taskId: string }
    expect(await team.engine.get(taskId)).toMatchObject({
      name: description.slice(0, 80).trim(),
      description: description.trim(),
      goal: null,
      executor: null,
      status: 'submitted',
    })
  })

  it.each([
    [[{ desc: 'Find it' }], 'as a string or { description }'],
    [[7], 'as a string or { description }'],
    [[''], 'objectives.0'],
    [[{ description: 'Find it', status: 'done' }], 'has no option "status"'],
    ['Find it', 'expected a list of objectives'],
  ])('S2-025 task:create refuses the objectives %j: %s', async (objectives, said) => {
    const team = await openTeams()
    const refusal = await refusalOf(team.call('task:create', { name: 'x', objectives }), 'INVALID_INPUT')
    expect(refusal.message).toContain(said)
    expect(await history(team.engine)).toEqual([])
  })

  it('S2-001 task:create refuses a task without any content', async () => {
    const team = await openTeams()
    await refusalOf(team.call('task:create', { tags: ['x'] }), 'INVALID_INPUT')
    expect(await history(team.engine)).toEqual([])
  })

  it('S2-001 task:create repeated under the same call returns the same task and branch', async () => {
    const team = await openTeams()
    const create = team.engine.bus.get('task:create')
    const context = { caller: { surface: 'library' }, signal: AbortSignal.timeout(5_000), identity: 'the one call' }
    const input = create?.parseInput({ name: 'Once', objectives: ['a'] })
    const made = await create?.handle?.(input, context)
    expect(await create?.handle?.(input, context)).toEqual(made)
    expect((await team.engine.list()).total).toBe(1)
  })

  it("S2-085 task:create stores the team's rule of what is durable", async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team, { durableThreshold: 0.7, durableCategories: ['arch', 'insight'] })
    expect(await team.ledger.read((tx) => tx.team.get(taskId))).toMatchObject({
      durableThreshold: 70,
      durableCategories: ['architecture', 'insight'],
    })
  })

  it("S2-016 a child task of a team's task merges into that team", async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    const inner = await team.call('task:create', { name: 'Inner', parentTaskId: taskId })
    expect((await team.call('task:context', { taskId: inner['taskId'] }))['task']).toMatchObject({
      branch: 'task/inner',
      parentBranch: 'task/fix-auth',
    })
  })

  it('X-022 a task with only a goal has a branch, and a team with its first agent', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await team.call('task:create', { goal: 'Fix auth' })
    expect(branch).toBe('task/fix-auth')
    expect(await team.ledger.read((tx) => tx.team.get(String(taskId)))).toBeUndefined()
    expect((await team.call('task:context', { taskId }))['task']).toMatchObject({ branch, parentBranch: 'main' })
    const { branch: joined } = await team.call('agent:join', { taskId, agentId: 'ada' })
    expect(joined).toBe('task/fix-auth/ada')
    expect(await team.ledger.read((tx) => tx.team.get(String(taskId)))).toMatchObject({ branch })
  })

  it('engine.create makes a team task with team: later, or with options only for teams', async () => {
    const team = await openWithRows()
    const later = await team.engine.create({ name: 'Later', team: 'later' })
    const now = await team.engine.create({ name: 'Now', team: 'later', type: 'review' })
    const rows = await team.ledger.read(function* (tx) {
      return [yield* tx.team.get(later.id), yield* tx.branch.ofTask(later.id), yield* tx.team.get(now.id)]
    })
    expect(rows).toMatchObject([undefined, { name: 'task/later' }, { branch: 'task/now' }])
  })

  it('a purge deletes an unused branch with its task and keeps any other', async () => {
    const team = await openWithRows()
    const unused = await team.engine.create({ name: 'Unused', team: 'later' })
    const used = await team.engine.create({ name: 'Used', team: 'later' })
    const joined = await team.engine.create({ name: 'Joined', team: true })
    await team.call('agent:join', { taskId: joined.id, agentId: 'ada' })
    await team.call('mem:observe', { sessionId: 's', taskId: used.id, type: 'insight', content: 'Seen' })
    for (const task of [unused, used, joined]) await team.engine.cancel(task)
    expect(await team.engine.purge({ before: 8e15 })).toMatchObject({ tasks: 3 })
    const { branches } = (await team.call('mem:branches', {})) as { branches: Array<{ name: string }> }
    expect(branches.map(({ name }) => name)).toEqual(['main', 'task/used'])
  })

  it('I25 a model may name only the branch of its own team', async () => {
    const team = await openTeams({ model: heldModel().model, autoStart: false })
    const { taskId, branch } = (await team.call('task:create', { goal: 'Own', type: 'review' })) as {
      taskId: string
      branch: string
    }
    const call = team.as(modelOf(taskId))
    const { branch: inner } = await call('task:create', { goal: 'Inner', parentBranch: branch })
    expect(inner).toBe('task/inner')
    for (const parentBranch of ['main', 'nowhere', inner]) {
      await refusalOf(call('task:create', { goal: 'Elsewhere', parentBranch }), 'FORBIDDEN')
    }
    const alone = await team.engine.create({ goal: 'No team' })
    await refusalOf(team.as(modelOf(alone.id))('task:create', { goal: 'x', parentBranch: 'main' }), 'FORBIDDEN')
  })

  it("S2-001 a model's task without a goal waits for agents to join, also where tasks inherit the agent", async () => {
    const { model } = heldModel()
    const team = await openTeams({ executors: { reviewer: agent({ model }) }, autoStart: false })
    const own = await team.engine.create({ goal: 'Own', executor: 'reviewer' } as never)
    const call = team.as(modelOf(own.id))
    const [worked, joined] = [
      await call('task:create', { goal: 'Go' }),
      await call('task:create', { name: 'For others' }),
    ]
    expect(await team.engine.get(String(worked['taskId']))).toMatchObject({ executor: 'reviewer' })
    expect(await team.engine.get(String(joined['taskId']))).toMatchObject({ executor: null, parentId: own.id })
  })

  it('S2-058 task:create accepts its keys in either case, but not in both', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, { parent_branch: 'main', durable_threshold: 0.9, objectives: ['a', 'b'] })
    const { branch } = await team.call('agent:join', { task_id: taskId, agent_id: 'ada', assigned_objectives: [2] })
    expect(branch).toBe('task/fix-auth/ada')
    await team.call('objective:update', { task_id: taskId, obj_id: 1, status: 'done', agent_id: 'ada' })
    await team.call('objective:update', { taskId, objective: 2, status: 'done' })
    await team.call('agent:complete', { task_id: taskId, agent_id: 'ada', result_summary: 'Did it' })
    const closed = await team.call('task:complete', {
      task_id: taskId,
      result_summary: 'All of it',
      merge_to_parent: false,
      archive_branches: true,
    })
    expect(closed).toMatchObject({ status: 'completed', merge: null })
    expect((await team.call('task:context', { task_id: taskId }))['task']).toMatchObject({ summary: 'All of it' })
    const refusal = await refusalOf(team.call('task:context', { taskId, task_id: taskId }), 'INVALID_INPUT')
    expect(refusal.message).toContain('are the same option')
    const unknown = await refusalOf(team.call('task:context', { taskId, formt: 'text' }), 'INVALID_INPUT')
    expect(unknown.details).toMatchObject({ nearest: 'format' })
  })

  it('S0-051 the published schema of task:create has one spelling', async () => {
    const { engine } = await openTeams()
    expect(engine.bus.get('agent:join')?.inputSchema).toMatchObject({
      type: 'object',
      required: ['taskId', 'agentId'],
      additionalProperties: false,
    })
    expect(Object.keys(engine.bus.get('agent:join')?.inputSchema['properties'] as object)).toEqual([
      'taskId',
      'agentId',
      'role',
      'objectives',
    ])
  })

  it('X-022 engine.create accepts the same options, and a task with only a name has no team', async () => {
    const team = await openWithRows()
    const made = await team.engine.create({ name: 'Fix Auth', type: 'bug_fix', objectives: ['Find it'] })
    expect(await branchStatus(team.ledger, 'task/fix-auth')).toBe('active')
    await joins(team, made.id, 'ada', { objectives: [1] })
    const plain = await team.engine.create({ name: 'Plain' })
    expect(await team.ledger.read((tx) => tx.team.get(plain.id))).toBeUndefined()
  })

  it("task:create places the branch below the nearest open one if the team's branch was archived", async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    await team.call('mem:archive', { branch })
    const inner = await team.call('task:create', { name: 'Inner', parentTaskId: taskId })
    const plain = await team.engine.create({ name: 'Plain', parentId: taskId })
    const ada = await joins(team, plain.id, 'ada')
    const parentOf = async (name: string) => (await team.ledger.read((tx) => tx.branch.get(name)))?.parent
    expect([await parentOf(inner['branch'] as string), ada.branch, await parentOf('task/plain')]).toEqual([
      'main',
      'task/plain/ada',
      'main',
    ])
    await refusalOf(team.call('task:create', { name: 'Named', parentBranch: branch }), 'BRANCH_CLOSED')
  })
})
