// Lists of teams: by status and type, statistics by type, and an agent's timeline.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { type Json, joins, openTeams, teamTask } from './world.ts'

describe('task:teams', () => {
  it('S2-007 C-56 task:teams lists team tasks by status and type, newest first, twenty by default', async () => {
    const team = await openTeams()
    await team.engine.create({ name: 'No team' })
    const ids: string[] = []
    for (let n = 0; n < 25; n++) {
      ids.unshift((await teamTask(team, { name: `Task ${n}`, type: n % 5 === 0 ? 'bug_fix' : 'research' })).taskId)
    }
    const idsOf = async (query: Json) => ((await team.call('task:teams', query))['tasks'] as Json[]).map(({ id }) => id)
    expect(await idsOf({})).toEqual(ids.slice(0, 20))
    expect(await idsOf({ offset: 20 })).toEqual(ids.slice(20))
    expect(await idsOf({ limit: 3, offset: 1 })).toEqual(ids.slice(1, 4))
    expect(await idsOf({ type: 'bug_fix' })).toEqual([ids[4], ids[9], ids[14], ids[19], ids[24]])
    await team.engine.start(ids[4] as string)
    await team.engine.pause(ids[4] as string)
    await team.engine.cancel(ids[9] as string)
    await team.call('task:complete', { taskId: ids[14] })
    await team.engine.delete(ids[19] as string)
    expect(await idsOf({ type: 'bug_fix', status: 'active' })).toEqual([ids[24]])
    expect(await idsOf({ status: 'paused' })).toEqual([ids[4]])
    expect(await idsOf({ status: 'canceled' })).toEqual([ids[9]])
    expect(await idsOf({ status: 'completed' })).toEqual([ids[14]])
  })
})

describe('task:types', () => {
  it('S2-107 task:types counts tasks by type of work with outcomes and durations', async () => {
    const clock = new SimulatedClock()
    const team = await openTeams({ clock })
    const make = async (type?: string) => (await teamTask(team, type === undefined ? {} : { type })).taskId
    const [quick, slow, failing, open] = [
      await make('bug_fix'),
      await make('bug_fix'),
      await make('bug_fix'),
      await make('bug_fix'),
    ]
    const dropped = await make('research')
    await make()
    clock.increment(1_000)
    await team.call('task:complete', { taskId: quick })
    clock.increment(2_000)
    await team.call('task:complete', { taskId: slow })
    await team.engine.start(failing)
    await team.engine.fail(failing, 'no way')
    await team.engine.cancel(dropped)
    expect(open).toBeDefined()
    expect((await team.call('task:types'))['types']).toEqual([
      { type: 'bug_fix', total: 4, completed: 2, failed: 1, successRate: 2 / 3, meanDurationMs: 2_000 },
      { type: 'research', total: 1, completed: 0, failed: 1, successRate: 0, meanDurationMs: null },
      { type: null, total: 1, completed: 0, failed: 0, successRate: null, meanDurationMs: null },
    ])
  })
})

describe('agent:timeline', () => {
  it("S2-107 S2-014 agent:timeline lists an agent's stints on all tasks, latest first", async () => {
    const clock = new SimulatedClock()
    const team = await openTeams({ clock })
    const [first, second] = [
      await teamTask(team, { name: 'First', type: 'bug_fix', objectives: ['a'] }),
      await teamTask(team, { name: 'Second' }),
    ]
    const ada = await joins(team, first.taskId, 'ada', { role: 'implementer', objectives: [1] })
    await joins(team, first.taskId, 'bob')
    clock.increment(5_000)
    await ada.completes('Did a')
    await joins(team, second.taskId, 'ada')
    clock.increment(1_000)
    await joins(team, first.taskId, 'ada')
    const { stints } = await team.call('agent:timeline', { agentId: 'ada' })
    const startedAt = clock.now() - 6_000
    expect(stints).toEqual([
      expect.objectContaining({
        taskName: 'First',
        stint: 2,
        status: 'active',
        joinedAt: startedAt + 6_000,
        durationMs: null,
      }),
      expect.objectContaining({ taskName: 'Second', stint: 1, status: 'active', type: null }),
      {
        taskId: first.taskId,
        taskName: 'First',
        type: 'bug_fix',
        taskStatus: 'submitted',
        stint: 1,
        role: 'implementer',
        branch: 'task/first/ada',
        status: 'completed',
        objectives: [1],
        summary: 'Did a',
        joinedAt: startedAt,
        leftAt: startedAt + 5_000,
        durationMs: 5_000,
      },
    ])
    expect((await team.call('agent:timeline', { agentId: 'ada', limit: 1, offset: 1 }))['stints']).toMatchObject([
      { taskName: 'Second' },
    ])
    expect(await team.call('agent:timeline', { agentId: 'eve' })).toEqual({ stints: [] })
  })
})
