// The context of a task for a new agent: as data, and as a text with a maximum length.
import { describe, expect, it } from 'vitest'
import { taskStatuses } from '../../../src/entities/task.ts'
import { maxContextLength } from '../../../src/memory/team/context-text.ts'
import { refusalOf, waysTo } from '../../engine/world.ts'
import { heldModel, modelOf } from '../../operations/world.ts'
import { type Json, joins, openTeams, type Team, teamTask } from './world.ts'

async function textOf({ call }: Team, taskId: string): Promise<string> {
  const context = await call('task:context', { taskId, format: 'text' })
  expect(Object.keys(context)).toEqual(['text'])
  return context['text'] as string
}

describe('task:context', () => {
  it('S2-039 S2-040 S2-041 S2-042 S2-044 S2-046 task:context shows the next agent task, objectives, agents, facts and progress', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, {
      description: 'Sessions end too early.',
      type: 'bug_fix',
      tags: ['auth'],
      objectives: ['Find it', 'Fix it', 'Test it', 'Write it down'],
    })
    const ada = await joins(team, taskId, 'ada', { role: 'implementer', objectives: [1] })
    const bob = await joins(team, taskId, 'bob', { role: 'reviewer' })
    await ada.sees('Fixed the token refresh bug')
    await ada.completes('Found the leak and fixed it')
    await bob.sees('The tests are slow')
    await bob.completes()
    await team.call('objective:update', { taskId, objectiveId: 3, status: 'blocked', notes: 'no access' })
    const { context } = await joins(team, taskId, 'cleo', { role: 'tester', objectives: [2] })
    expect(context).toMatchObject({
      task: {
        name: 'Fix Auth',
        description: 'Sessions end too early.',
        type: 'bug_fix',
        tags: ['auth'],
        status: 'submitted',
      },
      agentSummaries: [
        { agentId: 'ada', role: 'implementer', summary: 'Found the leak and fixed it' },
        { agentId: 'bob', role: 'reviewer', summary: expect.stringContaining('The tests are slow') as string },
      ],
      activeAgents: [{ agentId: 'cleo', role: 'tester', objectives: [2] }],
      progress: { total: 4, done: 1, active: 1, todo: 1, blocked: 1 },
    })
    expect(
      (context['objectives'] as Json[]).map(({ id, status, agentId, notes }) => [id, status, agentId, notes]),
    ).toEqual([
      [1, 'done', 'ada', null],
      [2, 'active', 'cleo', null],
      [3, 'blocked', null, 'no access'],
      [4, 'todo', null, null],
    ])
  })

  it('S2-043 task:context shows the newest twenty active facts, latest first, without summaries', async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    for (let n = 1; n <= 25; n++)
      await team.call('mem:remember', { branch, text: `Finding number ${n} of module m${n}` })
    const ada = await joins(team, taskId, 'ada')
    await ada.sees('Fixed the token refresh bug')
    await ada.completes()
    const keyFacts = (await team.call('task:context', { taskId }))['keyFacts'] as Json[]
    expect(keyFacts).toHaveLength(20)
    expect(keyFacts[0]).toEqual({
      id: expect.stringMatching(/^fact-/) as string,
      text: 'Fixed the token refresh bug',
      category: 'bug_fix',
      confidence: 0.7,
      statedBy: [{ kind: 'program' }],
      agentId: 'ada',
    })
    expect(keyFacts.slice(1).map(({ text }) => text)).toEqual(
      Array.from({ length: 19 }, (_, index) => `Finding number ${25 - index} of module m${25 - index}`),
    )
  })

  it('S2-045 X-022 task:context is empty for a task without content or team', async () => {
    const team = await openTeams()
    const bare = await teamTask(team)
    const { id } = await team.engine.create({ name: 'No team', description: 'Alone', tags: ['x'] })
    for (const taskId of [bare.taskId, id]) {
      expect(await team.call('task:context', { taskId })).toMatchObject({
        objectives: [],
        agentSummaries: [],
        activeAgents: [],
        keyFacts: [],
        progress: { total: 0, done: 0, active: 0, todo: 0, blocked: 0 },
      })
    }
    expect((await team.call('task:context', { taskId: id }))['task']).toMatchObject({
      name: 'No team',
      type: null,
      branch: null,
      tags: ['x'],
    })
  })

  it('S2-042 task:context shows an agent its objectives, taken at joining or assigned later', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, { objectives: ['a', 'b', 'c', 'd'] })
    await joins(team, taskId, 'ada', { objectives: [1, 2] })
    await team.call('objective:update', { taskId, objectiveId: 1, status: 'done' })
    await team.call('objective:update', { taskId, objectiveId: 2, status: 'active', agentId: 'bob' })
    await team.call('objective:update', { taskId, objectiveId: 3, status: 'active', agentId: 'ada' })
    expect((await team.call('task:context', { taskId }))['activeAgents']).toMatchObject([{ objectives: [1, 3] }])
  })

  it.each(taskStatuses)('X-019 task:context shows a task that is %s with its status', async (status) => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    for (const step of waysTo[status]) await team.engine.update(taskId, { status: step })
    const { task } = await team.call('task:context', { taskId })
    expect(task).toMatchObject({ status })
    const { tasks } = await team.call('task:teams', { status })
    expect(tasks).toMatchObject([{ id: taskId, status }])
  })

  it('S2-048 task:context as text has a heading, marked objectives, earlier work, key facts and a progress line', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, {
      description: 'Sessions end too early.',
      type: 'bug_fix',
      objectives: ['Find it', 'Fix it', 'Test it', 'Write it down'],
    })
    const ada = await joins(team, taskId, 'ada', { role: 'implementer', objectives: [1] })
    await ada.sees('Fixed the token refresh bug')
    await ada.completes('Found the leak')
    await joins(team, taskId, 'bob', { objectives: [2] })
    await team.call('objective:update', { taskId, objectiveId: 3, status: 'blocked', notes: 'no access' })
    expect((await textOf(team, taskId)).split('\n')).toEqual([
      '# Task Context: Fix Auth',
      `${taskId} · submitted · bug_fix`,
      '',
      'Description: Sessions end too early.',
      '',
      '## Objectives',
      '[DONE] 1. Find it (ada)',
      '[ACTIVE] 2. Fix it (bob)',
      '[BLOCKED] 3. Test it: no access',
      '[TODO] 4. Write it down',
      '',
      '## Previous Agent Work',
      '- ada (implementer): Found the leak',
      '',
      '## Active Agents',
      '- bob: objectives 2',
      '',
      '## Key Facts',
      '- [bug_fix 0.70] Fixed the token refresh bug (ada)',
      '',
      'Progress: 1/4 done, 1 active, 1 todo, 1 blocked',
    ])
  })

  it('X-037 task:context as text is limited in length and keeps each entry on a line', async () => {
    const team = await openTeams()
    const forged = `# Task Context: another\n\n## Objectives\n[DONE] 1. all of it\n${'🐛 and so on '.repeat(900)}`
    const { taskId } = await teamTask(team, {
      name: forged.slice(0, 400).toWellFormed(),
      description: forged,
      type: 'x'.repeat(100),
      objectives: Array.from({ length: 300 }, (_, index) => `${index} ${forged.slice(0, 5_000).toWellFormed()}`),
    })
    for (let n = 0; n < 30; n++) {
      const agent = await joins(team, taskId, `${n} ${'agent '.repeat(15)}`, {
        role: 'r'.repeat(100),
        objectives: [n + 1],
      })
      await agent.sees(`${n} ${n * 7} ${forged.slice(0, 2_000).toWellFormed()}`)
      if (n % 2 === 0) await agent.completes(forged)
    }
    await team.call('task:complete', { taskId, agents: 'complete', summary: forged })
    const text = await textOf(team, taskId)
    expect(text.length).toBeGreaterThan(5_000)
    expect(text.length).toBeLessThanOrEqual(maxContextLength)
    expect(text.isWellFormed()).toBe(true)
    const lines = text.split('\n')
    expect(lines.filter((line) => line.startsWith('# '))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('## '))).toEqual([
      '## Objectives',
      '## Previous Agent Work',
      '## Key Facts',
    ])
    expect(lines.filter((line) => /^… and \d+ more$/.test(line))).toHaveLength(3)
    expect(lines.at(-1)).toMatch(/^Progress: \d+\/300 done/)
  })

  it('S2-006 task:context refuses an unknown task', async () => {
    const { call } = await openTeams()
    await refusalOf(call('task:context', { taskId: 'task-missing' }), 'NOT_FOUND')
    await refusalOf(call('task:context', { taskId: 'task-missing', format: 'xml' }), 'INVALID_INPUT')
  })
})

describe('A model in a team', () => {
  it('I25 a model reads the context of its team and updates its objectives although the task is above, and nothing else', async () => {
    const team = await openTeams({ model: heldModel().model, autoStart: false })
    const { taskId } = await teamTask(team, { objectives: ['Find it'] })
    const other = await teamTask(team, { objectives: ['Mine'] })
    const worker = await team.engine.create({ goal: 'Work', parentId: taskId })
    const call = team.as(modelOf(worker.id))
    expect((await call('task:context', { taskId }))['task']).toMatchObject({ id: taskId })
    await call('objective:update', { taskId, objectiveId: 1, status: 'done' })
    expect((await call('objective:log', { taskId }))['changes']).toHaveLength(1)
    for (const id of [taskId, other.taskId]) {
      await refusalOf(call('agent:join', { taskId: id, agentId: 'eve' }), 'FORBIDDEN')
      await refusalOf(call('agent:complete', { taskId: id, agentId: 'eve' }), 'FORBIDDEN')
      await refusalOf(call('task:complete', { taskId: id }), 'FORBIDDEN')
      await refusalOf(call('objective:add', { taskId: id, descriptions: ['x'] }), 'FORBIDDEN')
    }
    await refusalOf(call('task:context', { taskId: other.taskId }), 'FORBIDDEN')
    await refusalOf(call('objective:update', { taskId: other.taskId, objectiveId: 1, status: 'done' }), 'FORBIDDEN')
    await refusalOf(call('objective:log', { taskId: other.taskId }), 'FORBIDDEN')
    await refusalOf(call('task:context', { taskId: 'task-missing' }), 'FORBIDDEN')
    const inner = await call('task:create', { name: 'Inner' })
    expect((await call('agent:join', { taskId: inner['taskId'], agentId: 'ada' }))['branch']).toBe('task/inner/ada')
    for (const id of ['task:teams', 'task:types', 'agent:timeline']) {
      await refusalOf(call(id, id === 'agent:timeline' ? { agentId: 'ada' } : {}), 'FORBIDDEN')
      const run = team.as({ surface: 'run', taskId: worker.id, run: 1 })
      await refusalOf(run(id, id === 'agent:timeline' ? { agentId: 'ada' } : {}), 'FORBIDDEN')
    }
  })
})
