// Joining a task: what agents receive, which may join, and what a returning agent finds.
import { describe, expect, it } from 'vitest'
import { history, openEngine, refusalOf, typesOf } from '../../engine/world.ts'
import { allRows, joins, openTeams, openWithRows, teamTask } from './world.ts'

const objectives = ['Fix the middleware', { description: 'Add tests' }, 'Write it down']

describe('agent:join', () => {
  it("S2-010 S2-012 agent:join creates a branch below the task's and returns the context", async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team, { objectives })
    const { branch: own, context } = await joins(team, taskId, 'agent_1', { role: 'implementer' })
    expect([branch, own]).toEqual(['task/fix-auth', 'task/fix-auth/agent_1'])
    expect(context).toMatchObject({
      task: { id: taskId, name: 'Fix Auth' },
      activeAgents: [{ agentId: 'agent_1', role: 'implementer', objectives: [] }],
    })
    expect(context).toEqual(await team.call('task:context', { taskId }))
  })

  it("S2-011 agent:join activates the agent's objectives, each with an event", async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, { objectives })
    const { context } = await joins(team, taskId, 'agent_1', { objectives: [3, 1, 3] })
    expect(context['objectives']).toMatchObject([
      { id: 1, status: 'active', agentId: 'agent_1' },
      { id: 2, status: 'todo', agentId: null },
      { id: 3, status: 'active', agentId: 'agent_1' },
    ])
    expect(context['activeAgents']).toMatchObject([{ objectives: [1, 3] }])
    const events = (await history(team.engine, taskId)).slice(1)
    expect(typesOf(events)).toEqual(['agent.joined', 'objective.updated', 'objective.updated'])
    expect(events[1]?.data).toMatchObject({ objectiveId: 1, from: 'todo', to: 'active', agentId: 'agent_1' })
  })

  it('S2-013 agent:join refuses an agent that is active already, naming its branch', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    await joins(team, taskId, 'agent_1')
    const refusal = await refusalOf(team.call('agent:join', { taskId, agentId: 'agent_1' }), 'ALREADY_ACTIVE')
    expect(refusal.message).toContain('already active')
    expect(refusal.details).toMatchObject({ taskId, agentId: 'agent_1', branch: 'task/fix-auth/agent_1' })
    await joins(team, (await teamTask(team)).taskId, 'agent_1')
  })

  it('S2-014 agent:join lets an agent return to its branch in another stint, and keeps both stints', async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team)
    const first = await joins(team, taskId, 'agent_1', { role: 'implementer' })
    await first.completes('Found it')
    expect(await branchOf(team, first.branch)).toBe('merged')
    const second = await joins(team, taskId, 'agent_1')
    expect(second.branch).toBe(first.branch)
    expect(await branchOf(team, first.branch)).toBe('active')
    const { stints } = await allRows(team.ledger, taskId)
    expect(stints).toEqual([
      ['agent_1', 1, 'completed', 'Found it', true],
      ['agent_1', 2, 'active', null, false],
    ])
    expect(second.context).toMatchObject({
      agentSummaries: [{ agentId: 'agent_1', summary: 'Found it' }],
      activeAgents: [{ agentId: 'agent_1', role: 'implementer' }],
    })
  })

  it('S2-015 agent:join refuses unknown objectives, naming the existing ones, and writes nothing', async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team, { objectives })
    const before = [await allRows(team.ledger, taskId), await history(team.engine)]
    const refusal = await refusalOf(
      team.call('agent:join', { taskId, agentId: 'agent_1', objectives: [1, 9] }),
      'NOT_FOUND',
    )
    expect(refusal.message).toContain('Objective 9 not found')
    expect(refusal.details).toMatchObject({ taskId, objectiveId: 9, objectives: [1, 2, 3] })
    expect([await allRows(team.ledger, taskId), await history(team.engine)]).toEqual(before)
  })

  it('S2-015 agent:join makes safe, distinct branch names for any agent names', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    const branches: string[] = []
    for (const agentId of ['a/b c', 'a b c', 'a-b-c', '../..', '日本', '中国']) {
      branches.push((await joins(team, taskId, agentId)).branch)
    }
    expect(branches).toEqual([
      'task/fix-auth/a-b-c',
      'task/fix-auth/a-b-c-2',
      'task/fix-auth/a-b-c-3',
      'task/fix-auth/agent',
      'task/fix-auth/agent-2',
      'task/fix-auth/agent-3',
    ])
  })

  it('S2-016 observations of an agent are hidden from others and from the task until it completes', async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    const bob = await joins(team, taskId, 'bob')
    await ada.sees('The token is never refreshed')
    await team.call('mem:consolidate', { level: 'session', sessionId: 'session of ada' })
    const textsOn = async (name: string) =>
      ((await team.call('mem:facts', { branch: name, inherited: true }))['facts'] as Array<{ text: string }>).map(
        ({ text }) => text,
      )
    expect(await textsOn(ada.branch)).toEqual(['The token is never refreshed'])
    expect([await textsOn(bob.branch), await textsOn(branch), await textsOn('main')]).toEqual([[], [], []])
    await ada.completes()
    expect([await textsOn(bob.branch), await textsOn(branch)]).toEqual([
      ['The token is never refreshed'],
      ['The token is never refreshed'],
    ])
  })

  it.each(['completed', 'canceled'] as const)('S2-017 agent:join refuses a task that is %s', async (status) => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    if (status === 'completed') await team.call('task:complete', { taskId })
    else await team.engine.cancel(taskId)
    const refusal = await refusalOf(team.call('agent:join', { taskId, agentId: 'late' }), 'INVALID_TRANSITION')
    expect(refusal.message).toContain(`it is ${status}`)
    expect(refusal.details).toMatchObject({ taskId, from: status, event: 'join' })
  })

  it('X-022 agent:join gives any task a team, also one that was created by hand', async () => {
    const team = await openTeams()
    const { id: taskId } = await team.engine.create({ name: 'By hand' })
    expect((await team.call('task:context', { taskId }))['task']).toMatchObject({ branch: null })
    const { branch } = await joins(team, taskId, 'ada')
    expect(branch).toBe('task/by-hand/ada')
    expect((await team.call('task:context', { taskId }))['task']).toMatchObject({
      branch: 'task/by-hand',
      parentBranch: 'main',
    })
  })

  it('S2-006 agent:join refuses an unknown and a deleted task', async () => {
    const team = await openTeams()
    await refusalOf(team.call('agent:join', { taskId: 'task-missing', agentId: 'ada' }), 'NOT_FOUND')
    const { taskId } = await teamTask(team)
    await team.engine.delete(taskId)
    await refusalOf(team.call('agent:join', { taskId, agentId: 'ada' }), 'NOT_FOUND')
  })

  it.each([
    [{ agentId: '' }],
    [{ agentId: 7 }],
    [{ agentId: 'x'.repeat(101) }],
    [{ agentId: 'a\u0000b' }],
    [{ agentId: 'half \ud800' }],
    [{ agentId: 'ada', objectives: ['1'] }],
    [{ agentId: 'ada', objectives: [0] }],
    [{ agentId: 'ada', rôle: 'x' }],
  ])('X-037 agent:join refuses %j and writes nothing', async (input) => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    const before = await history(team.engine)
    await refusalOf(team.engine.bus.call('agent:join' as string, { taskId, ...input }), 'INVALID_INPUT')
    expect(await history(team.engine)).toEqual(before)
  })

  it('S2-058 agent:join and the other team abilities are methods of the engine', async () => {
    const engine = await openEngine()
    const { taskId } = await engine.bus.call('task:create', { name: 'Fix Auth', type: 'bug_fix' })
    const { branch } = await engine.agent.join({ taskId, agentId: 'ada' })
    expect(branch).toBe('task/fix-auth/ada')
    await engine.objective.add({ taskId, descriptions: ['Find it'] })
    const { objectives: after } = await engine.objective.update({ taskId, objectiveId: 1, status: 'done' })
    expect(after).toMatchObject([{ id: 1, status: 'done' }])
    expect((await engine.objective.log({ taskId })).changes).toMatchObject([{ from: 'todo', to: 'done' }])
    expect((await engine.task.context({ taskId })).progress).toMatchObject({ total: 1, done: 1 })
    expect((await engine.task.context({ taskId, format: 'text' })).text).toContain('[DONE] 1. Find it')
    expect((await engine.task.teams()).tasks).toMatchObject([{ id: taskId }])
    expect((await engine.task.types()).types).toMatchObject([{ type: 'bug_fix', total: 1 }])
    expect((await engine.agent.timeline({ agentId: 'ada' })).stints).toMatchObject([{ taskId, branch }])
    const { merged } = await engine.agent.complete({ taskId, agentId: 'ada' })
    expect(merged).toBe(0)
    expect((await engine.task.complete({ taskId })).status).toBe('completed')
  })
})

async function branchOf({ ledger }: Awaited<ReturnType<typeof openWithRows>>, name: string) {
  return (await ledger.read((tx) => tx.branch.get(name)))?.status
}
