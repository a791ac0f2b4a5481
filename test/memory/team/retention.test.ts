// Purge and teams: a task is deleted with its team, and what the team learned stays, with its explanations.
import { describe, expect, it } from 'vitest'
import { agent } from '../../../src/agents/loop/agent.ts'
import { createScriptedModel, SimulatedClock } from '../../../src/testing/index.ts'
import { reached } from '../../engine/world.ts'
import { complaints } from '../invariants.ts'
import { tablesOf } from '../world.ts'
import { facts, type Json, joins, openTeams, openWithRows, type Team, teamTask } from './world.ts'

const bug = 'Fixed the bug in the refresh of tokens'
const forever = 8e15

/** A team's whole life: two agents observed the same, one of them something else. */
async function live(team: Team, name: string): Promise<{ taskId: string; branch: string }> {
  const { taskId, branch } = await teamTask(team, { name, type: 'bug_fix', objectives: ['Find it'] })
  const [ada, bob] = [await joins(team, taskId, 'ada', { objectives: [1] }), await joins(team, taskId, 'bob')]
  await ada.sees(bug, 'insight', `${name} 1`)
  await ada.sees(`The build of ${name} is slow on Mondays`, 'insight', `${name} 1`)
  await ada.sees('read proxy.ts', 'tool_use', `${name} 1`)
  await bob.sees(bug, 'insight', `${name} 2`)
  await ada.completes('Found it')
  await bob.completes()
  await team.call('task:complete', { taskId })
  return { taskId, branch }
}

describe('A purge of settled families', () => {
  it('a purge deletes settled teams and keeps all memory and everything of open families', async () => {
    const team = await openWithRows({ work: false })
    const { call, engine, ledger } = team
    const settled = await live(team, 'Old')
    const open = await teamTask(team, { name: 'Open', objectives: ['Go on'] })
    const cleo = await joins(team, open.taskId, 'ada', { objectives: [1] })
    await cleo.sees('Not yet taken up')
    const below = await team.call('task:create', { name: 'Below', parentTaskId: open.taskId })
    await engine.start(below['taskId'] as string)
    await engine.complete(below['taskId'] as string)
    const before = await tablesOf(ledger)

    expect(await engine.purge({ before: forever })).toMatchObject({ families: 1, tasks: 1 })
    expect(await tablesOf(ledger)).toEqual(before)
    expect(complaints(before, 0.85)).toEqual([])
    const rows = await ledger.read(function* (tx) {
      const of = (id: string) => [tx.team.get(id), tx.team.objectives(id), tx.team.stints(id)] as const
      const [team, objectives, stints] = of(settled.taskId)
      const [other, own, active] = of(open.taskId)
      return [
        [yield* team, yield* objectives, yield* stints],
        [(yield* other)?.branch, (yield* own).length, (yield* active).length],
      ]
    })
    expect(rows).toEqual([
      [undefined, [], []],
      ['task/open', 1, 1],
    ])
    expect((await call('task:teams', {}))['tasks']).toMatchObject([{ name: 'Below' }, { name: 'Open' }])
    expect(await cleo.completes()).toMatchObject({ merged: 1 })
    expect(await engine.purge({ before: forever })).toMatchObject({ families: 0 })
  })

  it('S2-097 a purge keeps the explanation of facts and the history of the task', async () => {
    const team = await openWithRows({ work: false })
    const { call, engine } = team
    const { taskId, branch } = await live(team, 'Old')
    const ask = async () => {
      const { facts: known } = (await call('mem:facts', { branch: 'main' })) as { facts: Json[] }
      return {
        main: known,
        why: await Promise.all(known.map(({ id }) => call('mem:why', { factId: id }))),
        own: await call('mem:facts', { branch, taskId }),
        history: await call('mem:history', { taskId }),
        observations: await call('mem:observations', { taskId }),
        branches: await call('mem:branches', { taskId, counts: true }),
      }
    }
    const before = await ask()
    expect(JSON.stringify(before.why)).toContain('"observation')
    expect((before.history['history'] as unknown[]).length).toBeGreaterThan(6)
    await engine.purge({ before: forever })
    expect(await engine.get(taskId)).toBeNull()
    expect(await ask()).toEqual(before)
  })

  it("S2-107 after a purge an agent's timeline shows the remaining tasks", async () => {
    const clock = new SimulatedClock(Date.UTC(2030, 0, 1))
    const team = await openWithRows({ work: false, clock })
    const { call, engine } = team
    await live(team, 'Old')
    clock.increment(1_000)
    const between = clock.now()
    clock.increment(1_000)
    const { taskId } = await live(team, 'New')
    const names = async (agentId: string) => {
      const { stints } = (await call('agent:timeline', { agentId })) as { stints: Json[] }
      return stints.map(({ taskName, status }) => [taskName, status])
    }
    expect(await names('ada')).toEqual([
      ['New', 'completed'],
      ['Old', 'completed'],
    ])
    await engine.purge({ before: between })
    expect([await names('ada'), await names('bob')]).toEqual([[['New', 'completed']], [['New', 'completed']]])
    expect((await call('task:types', {}))['types']).toMatchObject([{ type: 'bug_fix', total: 1 }])
    await engine.purge({ before: forever })
    expect([await names('ada'), (await call('task:types', {}))['types']]).toEqual([[], []])
    for (const abilityId of ['task:context', 'task:complete', 'objective:log'])
      await expect(call(abilityId, { taskId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('a purge keeps recall, distinct branch names, and a branch for late observations', async () => {
    const team = await openWithRows({ work: false })
    const { call, engine } = team
    const old = await live(team, 'Fix Auth')
    await engine.purge({ before: forever })
    const next = await live(team, 'Fix Auth')
    expect([old.branch, next.branch]).toEqual(['task/fix-auth', 'task/fix-auth-2'])
    // The earlier fact has gained confidence, because it was found again.
    expect(await facts(team, 'main')).toEqual({ [bug]: 0.9 })

    const late = { sessionId: 'late', type: 'insight', content: 'The proxy was to blame', taskId: old.taskId }
    await call('mem:observe', { ...late, agentId: 'ada' })
    await call('mem:observe', { ...late, sessionId: 'later', branch: old.branch })
    for (const sessionId of ['late', 'later']) {
      expect(await call('mem:consolidate', { level: 'session', sessionId })).toMatchObject({ observationsProcessed: 1 })
    }
    expect(Object.keys(await facts(team, old.branch))).toContain('The proxy was to blame')
    const again = { level: 'agent', agentId: 'ada', branch: old.branch }
    expect(await call('mem:consolidate', again)).toMatchObject({ summary: expect.stringContaining('The proxy') })
    expect(await call('mem:merge', { branch: old.branch })).toMatchObject({ rejected: 0 })
  })

  it('a purge keeps facts of several tasks comparable, including those of deleted ones', async () => {
    const team = await openWithRows({ work: false })
    const { call, engine, ledger } = team
    const seen = async (name: string) => {
      const { taskId, branch } = await teamTask(team, { name })
      const ada = await joins(team, taskId, 'ada')
      await ada.sees(bug, 'insight', name)
      await ada.completes()
      await call('task:complete', { taskId, merge: false })
      return branch
    }
    const branches = [await seen('One'), await seen('Two')]
    await engine.purge({ before: forever })
    await call('mem:consolidate', { level: 'project' })
    expect([await facts(team, 'main'), branches]).toEqual([{ [bug]: 0.8 }, ['task/one', 'task/two']])
    expect(complaints(await tablesOf(ledger), 0.85)).toEqual([])
  })
})

describe('A purge beside the team reconciler', () => {
  it('a purge does not delete a team whose memory is not consolidated yet', async () => {
    const team = await openWithRows({ work: false })
    const { engine, ledger } = team
    const { taskId, branch } = await teamTask(team, { name: 'Unclosed' })
    const [ada, bob] = [await joins(team, taskId, 'ada'), await joins(team, taskId, 'bob')]
    await ada.sees(bug, 'insight', 's1')
    await bob.sees(bug, 'insight', 's2')
    await ada.completes()
    await bob.completes()
    // Completed while no engine works: the team is not closed.
    await engine.start(taskId)
    await engine.complete(taskId)
    await engine.purge({ before: forever })

    const reconciler = await openTeams({ ledger })
    if ((await reconciler.engine.get(taskId)) !== null) {
      for await (const { type } of reconciler.engine.events({ taskId })) if (type === 'team.closed') break
    }
    expect([await facts(team, branch), await facts(team, 'main')]).toEqual([{ [bug]: 0.8 }, { [bug]: 0.8 }])
    expect(await reconciler.engine.purge({ before: forever })).toMatchObject({ tasks: 1 })
  })

  it('a purge does not delete an engine agent whose work is not consolidated yet', async () => {
    const model = createScriptedModel([{ text: bug }])
    const team = await openWithRows({ executors: { ada: agent({ model }) } as never })
    const { engine, ledger } = team
    const group = await engine.create({
      name: 'Swift',
      team: true,
      tasks: { a: { executor: 'ada', goal: 'Find it' }, b: { executor: 'ada', goal: 'Find it again' } },
    } as never)
    await reached(engine, group, 'completed')
    // At once, before the reconciler has processed the event.
    await engine.purge({ before: forever })
    await engine.idle()
    for (let left = await engine.get(group.id); left !== null; left = await engine.get(group.id)) {
      for await (const { type } of engine.events({ taskId: group.id })) if (type === 'team.closed') break
      await engine.purge({ before: forever })
    }
    expect(await facts(team, 'main')).toEqual({ [bug]: 0.8 })
    expect(complaints(await tablesOf(ledger), 0.85)).toEqual([])
  })
})
