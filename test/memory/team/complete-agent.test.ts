// Completing an agent: its observations become facts, its branch is merged into the task's, and its stint stays recorded.
import { describe, expect, it } from 'vitest'
import { history, refusalOf } from '../../engine/world.ts'
import { allRows, branchStatus, facts, type Json, joins, openTeams, openWithRows, teamTask } from './world.ts'

const objectives = ['Find it', 'Fix it', 'Test it']

describe('agent:complete', () => {
  it('S2-018 S2-021 C-58 agent:complete consolidates pending sessions, then the agent, then merges, and counts all', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    await ada.sees('The session cookie has no expiry', 'discovery', 'monday')
    await ada.sees('Fixed the token refresh bug', 'insight', 'monday')
    await ada.sees('Fixed the token refresh bug', 'insight', 'tuesday')
    await ada.sees('ran the tests', 'tool_use', 'tuesday')
    const completed = await ada.completes()
    expect(completed).toEqual({
      merged: 2,
      rejected: 0,
      conflicts: [],
      mergeId: expect.stringMatching(/^cons-/) as string,
      consolidation: {
        observationsProcessed: 3,
        factsCreated: 2,
        factsUpdated: 1,
        factsDeduplicated: 0,
        summary: expect.stringContaining('ada found 2 facts') as string,
      },
    })
    const found = { 'Fixed the token refresh bug': 0.8, 'The session cookie has no expiry': 0.7 }
    expect([await facts(team, ada.branch), await facts(team, branch)]).toEqual([found, found])
    const { runs } = await allRows(team.ledger, taskId)
    expect((runs as string[][]).map(([type, source]) => [type, source])).toEqual([
      ['session_end', ada.branch],
      ['session_end', ada.branch],
      ['agent_complete', ada.branch],
      ['merge', ada.branch],
    ])
  })

  it('S2-019 agent:complete stores summary and time, sets active objectives done, and marks the branch merged', async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team, { objectives })
    const ada = await joins(team, taskId, 'ada', { role: 'implementer', objectives: [1, 2] })
    await team.call('objective:update', { taskId, objectiveId: 2, status: 'blocked', notes: 'no access' })
    await ada.completes('Found the leak')
    const { stints, objectives: after } = await allRows(team.ledger, taskId)
    expect(stints).toEqual([['ada', 1, 'completed', 'Found the leak', true]])
    // The objective that it could not reach is not done.
    expect(after).toEqual([
      [1, 'done', 'ada'],
      [2, 'blocked', 'ada'],
      [3, 'todo', null],
    ])
    expect(await branchStatus(team.ledger, ada.branch)).toBe('merged')
    const events = await history(team.engine, taskId)
    expect(events.at(-1)).toMatchObject({
      type: 'agent.completed',
      data: { agentId: 'ada', role: 'implementer', branch: ada.branch, stint: 1, merged: 0, rejected: 0, conflicts: 0 },
    })
    expect(events.at(-2)).toMatchObject({
      type: 'objective.updated',
      data: { objectiveId: 1, from: 'active', to: 'done' },
    })
  })

  it('S2-020 agent:complete refuses an inactive agent and one that never joined, with nothing changed', async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    await ada.completes()
    const before = [await allRows(team.ledger, taskId), await history(team.engine)]
    const refusal = await refusalOf(ada.completes(), 'NOT_ACTIVE')
    expect(refusal.details).toMatchObject({ taskId, agentId: 'ada' })
    const unknown = await refusalOf(team.call('agent:complete', { taskId, agentId: 'eve' }), 'NOT_FOUND')
    expect(unknown.message).toContain('Agents that did: ada')
    const { id } = await team.engine.create({ name: 'No team' })
    await refusalOf(team.call('agent:complete', { taskId: id, agentId: 'ada' }), 'NOT_FOUND')
    await refusalOf(team.call('agent:complete', { taskId: 'task-missing', agentId: 'ada' }), 'NOT_FOUND')
    expect([await allRows(team.ledger, taskId), (await history(team.engine)).slice(0, -1)]).toEqual(before)
  })

  it("S2-022 S2-021 agent:complete reports contradictions with the team's facts and keeps both", async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    const bob = await joins(team, taskId, 'bob')
    await ada.sees('The session timeout is 30 minutes')
    await bob.sees('The session timeout is 60 minutes')
    expect((await ada.completes())['conflicts']).toEqual([])
    const { conflicts, merged, rejected } = await bob.completes()
    expect([merged, rejected]).toEqual([1, 0])
    expect(conflicts).toMatchObject([{ ground: 'numbers', resolution: 'keep-both' }])
    expect(await facts(team, branch)).toEqual({
      'The session timeout is 30 minutes': 0.7,
      'The session timeout is 60 minutes': 0.7,
    })
  })

  it('S2-014 completing a second stint merges only what is new', async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    const first = await joins(team, taskId, 'ada')
    await first.sees('The cookie has no expiry')
    expect((await first.completes())['merged']).toBe(1)
    const second = await joins(team, taskId, 'ada')
    await second.sees('The proxy strips the header')
    expect((await second.completes('Came back'))['merged']).toBe(1)
    expect(await facts(team, branch)).toEqual({ 'The cookie has no expiry': 0.7, 'The proxy strips the header': 0.7 })
    expect((await team.call('task:context', { taskId }))['agentSummaries']).toEqual([
      { agentId: 'ada', role: null, summary: 'Came back' },
    ])
  })

  it('S2-018 agent:complete accepts an agent without observations', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    expect(await ada.completes()).toMatchObject({
      merged: 0,
      consolidation: { observationsProcessed: 0, factsCreated: 0, summary: null },
    })
    expect((await team.call('task:context', { taskId }))['agentSummaries']).toEqual([])
  })

  it('S2-019 agent:complete works on a canceled task', async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    await ada.sees('The cookie has no expiry')
    await team.engine.cancel(taskId)
    expect((await ada.completes())['merged']).toBe(1)
    expect(Object.keys(await facts(team, branch))).toEqual(['The cookie has no expiry'])
  })

  it.each([[{ summary: '' }], [{ summary: 7 }], [{ summary: 'a\u0000b' }], [{ agentId: '' }], [{ more: 1 }]])(
    'X-037 agent:complete refuses %j with nothing changed',
    async (input) => {
      const team = await openTeams()
      const { taskId } = await teamTask(team)
      await joins(team, taskId, 'ada')
      const before = await history(team.engine)
      const given: Json = { taskId, agentId: 'ada', ...input }
      await refusalOf(team.engine.bus.call('agent:complete' as string, given), 'INVALID_INPUT')
      expect(await history(team.engine)).toEqual(before)
    },
  )
})
