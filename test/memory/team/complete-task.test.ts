// Completing a team's task: from any status, once, with durable facts merged into the branch above and the others left in place.
import { describe, expect, it } from 'vitest'
import type { TaskStatus } from '../../../src/entities/task.ts'
import { history, puppet, reached, refusalOf, typesOf, waysTo } from '../../engine/world.ts'
import { heldModel, modelOf } from '../../operations/world.ts'
import {
  allRows,
  branchStatus,
  facts,
  type Json,
  joins,
  openTeams,
  openWithRows,
  type Team,
  teamTask,
} from './world.ts'

/** A fact of 0.8, observed in two sessions, and one of 0.7, both on the branch of the task. */
async function learn(team: Team, taskId: string): Promise<void> {
  const ada = await joins(team, taskId, 'ada')
  await ada.sees('Fixed the token refresh bug', 'insight', 'monday')
  await ada.sees('Fixed the token refresh bug', 'insight', 'tuesday')
  await ada.sees('The office is closed', 'insight', 'tuesday')
  await ada.completes()
}

const durable = { 'Fixed the token refresh bug': 0.8 }
const all = { ...durable, 'The office is closed': 0.7 }

describe('task:complete', () => {
  it('S2-031 S2-032 S2-034 S2-082 task:complete completes the task, judges its facts, and merges durable ones into main', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    await learn(team, taskId)
    const completed = await team.call('task:complete', { taskId, summary: 'No more logouts', result: { fixed: 1 } })
    expect(completed).toEqual({
      taskId,
      status: 'completed',
      merge: { merged: 1, rejected: 0, conflicts: [], mergeId: expect.stringMatching(/^cons-/) as string },
      durable: [expect.stringMatching(/^fact-/)],
      ephemeral: 1,
    })
    expect(await team.engine.get(taskId)).toMatchObject({
      status: 'completed',
      result: { fixed: 1 },
      run: 0,
      completedAt: expect.any(Number) as number,
    })
    expect((await team.call('task:context', { taskId }))['task']).toMatchObject({
      status: 'completed',
      summary: 'No more logouts',
      completedAt: expect.any(Number) as number,
    })
    expect([await facts(team, 'main'), await facts(team, branch)]).toEqual([durable, all])
    expect((await history(team.engine, taskId)).at(-1)).toMatchObject({
      type: 'team.closed',
      data: { branch, durable: 1, ephemeral: 1, merged: 1, rejected: 0, conflicts: 0 },
    })
  })

  it('S2-033 C-59 task:complete with merge false leaves the branch as it is', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    await learn(team, taskId)
    const { merge, durable: found } = await team.call('task:complete', { taskId, merge: false })
    expect([merge, (found as string[]).length]).toEqual([null, 1])
    expect([await facts(team, 'main'), await facts(team, branch)]).toEqual([{}, all])
    expect(await branchStatus(team.ledger, branch)).toBe('active')
  })

  it("S2-031 task:complete consolidates observations on the task's own branch", async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    for (const sessionId of ['one', 'two']) {
      await team.call('mem:observe', { sessionId, branch, type: 'decision', content: 'Tokens live for an hour' })
    }
    expect((await team.call('task:complete', { taskId }))['ephemeral']).toBe(0)
    expect(await facts(team, 'main')).toEqual({ 'Tokens live for an hour': 0.8 })
  })

  it('S2-037 C-66 task:complete marks branches merged, or archived with `archive`; facts stay readable', async () => {
    const team = await openWithRows()
    const [kept, closed] = [await teamTask(team, { name: 'Kept' }), await teamTask(team, { name: 'Closed' })]
    for (const { taskId } of [kept, closed]) await learn(team, taskId)
    await team.call('task:complete', { taskId: kept.taskId })
    await team.call('task:complete', { taskId: closed.taskId, archive: true })
    const names = [kept.branch, `${kept.branch}/ada`, closed.branch, `${closed.branch}/ada`, 'main']
    expect(await Promise.all(names.map((name) => branchStatus(team.ledger, name)))).toEqual([
      'merged',
      'merged',
      'archived',
      'archived',
      'active',
    ])
    expect(await facts(team, closed.branch)).toEqual(all)
    const late = { sessionId: 's', type: 'insight', content: 'late' }
    await refusalOf(team.call('mem:observe', { ...late, branch: closed.branch }), 'BRANCH_CLOSED')
    await team.call('mem:observe', { ...late, branch: kept.branch })
  })

  it('S2-035 a second task:complete returns the first outcome with its conflicts and merges nothing', async () => {
    const team = await openWithRows()
    for (const minutes of [30, 60]) {
      const { taskId } = await teamTask(team, { durableThreshold: 0.7, durableCategories: ['insight'] })
      const ada = await joins(team, taskId, 'ada')
      await ada.sees(`The session timeout is ${minutes} minutes`)
      await ada.sees('The proxy strips the header')
      await ada.completes()
      const first = await team.call('task:complete', { taskId, summary: 'Done' })
      expect((first['merge'] as Json)['conflicts']).toHaveLength(minutes === 30 ? 0 : 1)
      const before = [await allRows(team.ledger, taskId), await history(team.engine)]
      expect(await team.call('task:complete', { taskId })).toEqual(first)
      expect(await team.call('task:complete', { taskId, summary: 'Another', archive: true })).toEqual(first)
      expect([await allRows(team.ledger, taskId), await history(team.engine)]).toEqual(before)
    }
  })

  it.each(['newest', 'highest-confidence'] as const)(
    'S2-035 S2-104 a second task:complete returns which of two facts won (%s)',
    async (onContradiction) => {
      const team = await openTeams({ memory: { onContradiction } })
      const outcomes: unknown[] = []
      for (const minutes of [30, 60]) {
        const { taskId } = await teamTask(team, { durableThreshold: 0.7, durableCategories: ['insight'] })
        const ada = await joins(team, taskId, 'ada')
        // The first has more confidence.
        for (const sessionId of minutes === 30 ? ['a', 'b'] : ['c']) {
          await ada.sees(`The session timeout is ${minutes} minutes`, 'insight', sessionId)
        }
        await ada.completes()
        const first = await team.call('task:complete', { taskId })
        expect(await team.call('task:complete', { taskId })).toEqual(first)
        outcomes.push(first['merge'])
      }
      const isNewest = onContradiction === 'newest'
      expect(outcomes[1]).toMatchObject({
        merged: isNewest ? 1 : 0,
        rejected: isNewest ? 0 : 1,
        conflicts: [{ ground: 'numbers', resolution: isNewest ? 'source' : 'target' }],
      })
    },
  )

  it('S2-036 task:complete refuses while agents are active, naming them, or completes them first', async () => {
    const team = await openWithRows()
    const { taskId } = await teamTask(team, { objectives: ['Find it'] })
    const ada = await joins(team, taskId, 'ada', { objectives: [1] })
    await joins(team, taskId, 'bob')
    await ada.sees('Tokens live for an hour', 'decision', 'one')
    await ada.sees('Tokens live for an hour', 'decision', 'two')
    const before = [await allRows(team.ledger, taskId), await history(team.engine)]
    const refusal = await refusalOf(team.call('task:complete', { taskId }), 'AGENTS_ACTIVE')
    expect(refusal.details).toMatchObject({ taskId, agents: ['ada', 'bob'] })
    expect([await allRows(team.ledger, taskId), await history(team.engine)]).toEqual(before)
    const { merge } = await team.call('task:complete', { taskId, agents: 'complete' })
    expect(merge).toMatchObject({ merged: 1 })
    const { stints, objectives } = await allRows(team.ledger, taskId)
    expect((stints as unknown[][]).map(([, , status]) => status)).toEqual(['completed', 'completed'])
    expect(objectives).toEqual([[1, 'done', 'ada']])
    expect(await facts(team, 'main')).toEqual({ 'Tokens live for an hour': 0.8 })
    expect(typesOf(await history(team.engine, taskId)).slice(-6)).toEqual([
      'objective.updated',
      'agent.completed',
      'agent.completed',
      'task.started',
      'task.completed',
      'team.closed',
    ])
  })

  it('X-023 task:complete checks objectives only with requireObjectives', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, { objectives: ['a', 'b', 'c'] })
    await team.call('objective:update', { taskId, objectiveId: 1, status: 'done' })
    await team.call('objective:update', { taskId, objectiveId: 2, status: 'blocked' })
    const refusal = await refusalOf(team.call('task:complete', { taskId, requireObjectives: true }), 'OBJECTIVES_OPEN')
    expect(refusal.message).toContain('2 (blocked), 3 (todo)')
    expect(refusal.details).toMatchObject({ taskId, objectives: [2, 3] })
    expect((await team.engine.get(taskId))?.status).toBe('submitted')
    expect((await team.call('task:complete', { taskId }))['status']).toBe('completed')
    expect((await team.call('task:context', { taskId }))['progress']).toMatchObject({ done: 1, blocked: 1, todo: 1 })
  })

  it.each(['submitted', 'working', 'paused', 'input_required', 'waiting'] as TaskStatus[])(
    'S2-031 C-51 task:complete takes legal edges from %s, without a run',
    async (status) => {
      const team = await openTeams()
      const { taskId } = await teamTask(team)
      for (const step of waysTo[status]) await team.engine.update(taskId, { status: step })
      await team.call('task:complete', { taskId })
      const events = (await history(team.engine, taskId)).filter(({ type }) => /^task\.(started|completed)$/.test(type))
      expect(events.slice(-2).map(({ type, data }) => [type, data['from'] ?? null])).toMatchObject([
        ['task.started', status === 'working' ? 'submitted' : status],
        ['task.completed', 'working'],
      ])
      expect(await team.engine.get(taskId)).toMatchObject({ status: 'completed', run: 0 })
    },
  )

  it.each(['failed', 'canceled'] as TaskStatus[])(
    'S2-031 task:complete refuses a task that is %s and leaves its memory unchanged',
    async (status) => {
      const team = await openWithRows()
      const { taskId } = await teamTask(team)
      await learn(team, taskId)
      for (const step of waysTo[status]) await team.engine.update(taskId, { status: step })
      const before = await allRows(team.ledger, taskId)
      const refusal = await refusalOf(team.call('task:complete', { taskId }), 'INVALID_TRANSITION')
      expect(refusal.message).toContain(status === 'failed' ? 'retry' : 'final')
      expect(await allRows(team.ledger, taskId)).toEqual(before)
    },
  )

  it('C-50 task:complete refuses a blocked task', async () => {
    const team = await openTeams()
    const first = await teamTask(team, { name: 'First' })
    const second = await teamTask(team, { name: 'Second', blockedBy: [first.taskId] })
    const refusal = await refusalOf(team.call('task:complete', { taskId: second.taskId }), 'BLOCKED')
    expect(refusal.details).toMatchObject({ blockedBy: [first.taskId] })
    await team.call('task:complete', { taskId: first.taskId })
    await team.call('task:complete', { taskId: second.taskId })
  })

  it('C-54 task:complete of a claimed task requires its owner', async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team)
    const { fence } = await team.engine.claim(taskId, { owner: 'ada', leaseMs: 60_000 })
    await refusalOf(team.call('task:complete', { taskId }), 'NOT_OWNER')
    await refusalOf(team.call('task:complete', { taskId, owner: 'bob' }), 'NOT_OWNER')
    await refusalOf(team.call('task:complete', { taskId, owner: 'ada' }), 'STALE_CLAIM')
    await refusalOf(team.call('task:complete', { taskId, owner: 'ada', fence: fence + 1 }), 'STALE_CLAIM')
    await refusalOf(team.call('task:complete', { taskId, fence }), 'INVALID_INPUT')
    await team.call('task:complete', { taskId, owner: 'ada', fence })
    expect(await team.engine.get(taskId)).toMatchObject({ status: 'completed', owner: 'ada' })
    // A name without a fence is no claim.
    await team.call('task:complete', { taskId: (await teamTask(team)).taskId, owner: 'ada' })
  })

  it('S2-031 task:complete ends the run of an executor', async () => {
    const hands = puppet()
    const team = await openTeams({ executors: { work: hands.executor } })
    const { taskId } = await teamTask(team, { executor: 'work', goal: 'Work' })
    const held = await hands.started(0)
    await team.call('task:complete', { taskId, result: 'by hand' })
    await held.aborted
    expect(await team.engine.result(taskId)).toBe('by hand')
  })

  it('S2-031 task:complete of a task completed by its executor closes only the team; the result is final', async () => {
    const hands = puppet()
    const team = await openWithRows({ executors: { work: hands.executor }, work: true })
    const { taskId } = await teamTask(team, { executor: 'work', goal: 'Work' })
    await learn(team, taskId)
    // An agent is active, so the engine does not close the team.
    const bob = await joins(team, taskId, 'bob')
    ;(await hands.started(0)).end.resolve('its own')
    await reached(team.engine, taskId, 'completed')
    await refusalOf(team.call('task:complete', { taskId, agents: 'complete', result: 'mine' }), 'INVALID_TRANSITION')
    await bob.sees('Chose the cookie store', 'decision')
    const { merge } = await team.call('task:complete', { taskId, agents: 'complete', result: 'its own' })
    expect(merge).toMatchObject({ merged: 1 })
    expect(await team.engine.result(taskId)).toBe('its own')
  })

  it('S2-034 task:complete merges into the nearest active branch, so that durable facts reach main', async () => {
    const team = await openTeams()
    const outer = await teamTask(team, { name: 'Outer' })
    const [early, late] = [
      await teamTask(team, { name: 'Early', parentTaskId: outer.taskId }),
      await teamTask(team, { name: 'Late', parentTaskId: outer.taskId }),
    ]
    await learn(team, early.taskId)
    await team.call('task:complete', { taskId: early.taskId })
    expect([await facts(team, outer.branch), await facts(team, 'main')]).toEqual([durable, {}])
    await team.call('task:complete', { taskId: outer.taskId, archive: true })
    expect(await facts(team, 'main')).toEqual(durable)
    const bob = await joins(team, late.taskId, 'bob')
    for (const session of ['one', 'two']) await bob.sees('Tokens live for an hour', 'decision', session)
    await bob.completes()
    await team.call('task:complete', { taskId: late.taskId })
    expect(await facts(team, 'main')).toEqual({ ...durable, 'Tokens live for an hour': 0.8 })
  })

  it('S2-037 S2-022 task:complete works with branches that were archived before', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    await learn(team, taskId)
    const bob = await joins(team, taskId, 'bob')
    for (const session of ['one', 'two']) await bob.sees('Tokens live for an hour', 'decision', session)
    await team.call('mem:archive', { branch })
    await bob.completes()
    await team.call('task:complete', { taskId })
    expect(await facts(team, 'main')).toEqual({ ...durable, 'Tokens live for an hour': 0.8 })
    for (const name of [branch, bob.branch]) expect(await branchStatus(team.ledger, name)).toBe('archived')
  })

  it("S2-085 Q-09 task:complete applies the team's rule of what is durable", async () => {
    const team = await openTeams()
    const { taskId } = await teamTask(team, { durableThreshold: 0.7, durableCategories: ['insight'] })
    await learn(team, taskId)
    await team.call('task:complete', { taskId })
    expect(await facts(team, 'main')).toEqual({ 'The office is closed': 0.7 })
  })

  it('X-022 task:complete completes a task without a team', async () => {
    const team = await openTeams()
    const { id: taskId } = await team.engine.create({ name: 'By hand' })
    expect(await team.call('task:complete', { taskId, summary: 'Done' })).toMatchObject({
      status: 'completed',
      merge: { merged: 0 },
      durable: [],
      ephemeral: 0,
    })
    expect((await team.call('task:context', { taskId }))['task']).toMatchObject({ summary: 'Done' })
  })

  it('I25 a model completes tasks below its own, but neither its own nor any other', async () => {
    const team = await openTeams({ model: heldModel().model, autoStart: false })
    const own = (await team.call('task:create', { goal: 'Own' })) as { taskId: string }
    const outsider = await teamTask(team)
    const call = team.as(modelOf(own.taskId))
    const inner = await call('task:create', { name: 'Inner' })
    await refusalOf(call('task:complete', { taskId: own.taskId }), 'FORBIDDEN')
    await refusalOf(call('task:complete', { taskId: outsider.taskId }), 'FORBIDDEN')
    expect((await call('task:complete', { taskId: inner['taskId'] }))['status']).toBe('completed')
  })

  it('S2-022 task:complete merges what completed agents added later', async () => {
    const team = await openWithRows()
    const { taskId, branch } = await teamTask(team)
    const ada = await joins(team, taskId, 'ada')
    await ada.completes()
    await ada.sees('Fixed the token refresh bug', 'insight', 'monday')
    await ada.sees('Fixed the token refresh bug', 'insight', 'tuesday')
    await team.call('mem:observe', { sessionId: 'monday', type: 'insight', content: 'The office is closed' })
    expect(await team.call('task:complete', { taskId, archive: true })).toMatchObject({ merge: { merged: 1 } })
    expect(await facts(team, branch)).toEqual(durable)
    expect(await branchStatus(team.ledger, ada.branch)).toBe('archived')
    // Nothing is left pending on a closed branch, where it would block the rest of its session.
    await team.call('mem:consolidate', { level: 'session', sessionId: 'monday' })
    expect(await facts(team, 'main')).toEqual(all)
  })

  it('S2-035 a second task:complete returns the durable facts of the first and refuses another result', async () => {
    const team = await openTeams()
    const { taskId, branch } = await teamTask(team)
    const lead = { branch, agentId: 'lead', text: 'Sessions lie in one store', category: 'decision' }
    await team.call('mem:remember', { ...lead, confidence: 0.8 })
    await team.call('mem:consolidate', { level: 'task', taskId })
    await team.call('mem:remember', { ...lead, confidence: 0.9 })
    await team.call('mem:consolidate', { level: 'agent', agentId: 'lead', branch })
    const first = await team.call('task:complete', { taskId, result: { fixed: 1 } })
    expect(first['durable']).toHaveLength(1)
    expect(await team.call('task:complete', { taskId })).toEqual(first)
    expect(await team.call('task:complete', { taskId, result: { fixed: 1 } })).toEqual(first)
    await refusalOf(team.call('task:complete', { taskId, result: { fixed: 2 } }), 'INVALID_TRANSITION')
  })
})
