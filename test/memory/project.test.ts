// Consolidation across the tasks of a project.
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { runs } from '../tier.ts'
import { type Json, openMemory, sentence, withoutRuns } from './world.ts'

async function openProject(options = {}) {
  const memory = await openMemory(options)
  const teams = [await memory.team('One'), await memory.team('Two'), await memory.team('Three')] as const
  return {
    ...memory,
    teams,
    state: async (nth: 0 | 1 | 2, text: string, more: Json = {}) =>
      (await memory.call('mem:remember', { text, taskId: teams[nth].taskId, category: 'security', ...more }))[
        'factId'
      ] as string,
    project: (more: Json = {}) => memory.call('mem:consolidate', { level: 'project', ...more }),
  }
}

describe('A project', () => {
  it('S2-106 Q-10 facts found by several tasks gain confidence and reach main; facts of one task stay', async () => {
    const { state, project, known, facts, teams, call } = await openProject()
    await state(0, sentence)
    await state(1, `${sentence}.`)
    const newest = await state(2, `${sentence}!`)
    await state(2, 'caches are cold after a restart')
    const { durable, ephemeral, summary, historyId } = await project()
    expect(ephemeral).toBe(1)
    expect(await known()).toEqual([`0.9 ${sentence}!`])
    expect(await facts()).toMatchObject([{ id: (durable as string[])[0], originId: newest }])
    expect(await known(teams[2].branch)).toHaveLength(2)
    expect(summary).toContain('3 tasks')
    const { history } = await call('mem:history', { type: 'project_checkpoint' })
    expect(history).toMatchObject([{ id: historyId, targetBranch: 'main', durable: 1, ephemeral: 1, summary }])
  })

  it('a second consolidation of a project changes nothing', async () => {
    const { state, project, tables } = await openProject()
    await state(0, sentence)
    await state(1, sentence)
    await state(1, 'caches are cold after a restart')
    await project()
    const before = await tables()
    expect(await project()).toMatchObject({ durable: [], ephemeral: 1, factsCreated: 0, factsUpdated: 0 })
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
  })

  it('a project fact that main has confirms it although it is not durable by itself', async () => {
    const { state, project, known, call } = await openProject()
    await call('mem:remember', { text: sentence })
    await state(0, sentence, { category: 'insight' })
    expect(await project()).toMatchObject({ factsUpdated: 1, ephemeral: 0 })
    expect(await known()).toEqual([`0.8 ${sentence}`])
  })

  it('a project fact found by a further task later adds only that one', async () => {
    const { state, project, known } = await openProject()
    await state(0, sentence)
    await state(1, sentence)
    await project()
    expect(await known()).toEqual([`0.8 ${sentence}`])
    await state(2, sentence)
    await project()
    expect(await known()).toEqual([`0.9 ${sentence}`])
  })

  it('a project of named tasks leaves others out; a task not below the branch is NOT_FOUND', async () => {
    const { state, project, known, teams, tables } = await openProject()
    await state(0, sentence)
    await state(1, sentence)
    await state(2, sentence)
    const before = await tables()
    await refusalOf(project({ taskIds: ['task-missing'] }), 'NOT_FOUND')
    await refusalOf(project({ taskIds: [teams[0].taskId], branch: teams[1].branch }), 'NOT_FOUND')
    expect(await tables()).toEqual(before)
    await project({ taskIds: [teams[0].taskId, teams[1].taskId] })
    expect(await known()).toEqual([`0.8 ${sentence}`])
    expect((await tables()).facts.filter(({ mergedTo }) => mergedTo !== null)).toHaveLength(2)
  })

  it('a project without tasks changes nothing', async () => {
    const { call } = await openMemory()
    expect(await call('mem:consolidate', { level: 'project' })).toMatchObject({
      durable: [],
      ephemeral: 0,
      factsCreated: 0,
      observationsProcessed: 0,
    })
  })

  it('a project fact is durable by the rules of the tasks that found it', async () => {
    const { call, known } = await openMemory()
    const { taskId } = await call('task:create', { name: 'Easy', durableThreshold: 0.5, durableCategories: ['lore'] })
    await call('mem:remember', { text: 'the dragon sleeps', taskId, category: 'lore', confidence: 0.5 })
    await call('mem:consolidate', { level: 'project' })
    expect(await known()).toEqual(['0.5 the dragon sleeps'])
  })

  it('S2-104 contradicting facts of tasks stay apart and are flagged where both are merged', async () => {
    const { state, project, facts } = await openProject()
    await state(0, 'requests to billing time out after 30 seconds', { confidence: 0.9 })
    await state(1, 'requests to billing time out after 60 seconds', { confidence: 0.9 })
    expect(await project()).toMatchObject({ ephemeral: 0 })
    expect((await facts()).map(({ disputed }) => disputed)).toEqual([true, true])
  })

  it('S2-074 S2-103 a project groups chains of alike facts, also with a similarity function', async () => {
    const alike = new Set(['a b', 'b c'])
    const { state, project, known } = await openProject({
      memory: { similarity: (a: string, b: string) => (alike.has(`${a} ${b}`) ? 1 : 0), threshold: 0.5 },
    })
    await state(0, 'a')
    await state(1, 'b')
    await state(2, 'c')
    await project()
    expect(await known()).toEqual(['0.9 c'])
  })

  it('S2-022 S2-106 a fact that only a fact left behind connects with the merged one stays with its task', async () => {
    const { state, project, known, teams } = await openProject({ memory: { threshold: 0.6 } })
    await state(0, 'cache token retry limit proxy not', { confidence: 0.8 })
    await state(1, 'token queue retry limit not', { confidence: 0.5, category: 'insight' })
    await state(2, 'token queue retry limit proxy not 10s', { category: 'insight' })
    expect(await project()).toMatchObject({ ephemeral: 2 })
    // Only the fact with the number counts as a second observation.
    expect(await known()).toEqual(['0.9 cache token retry limit proxy not'])
    expect(await known(teams[1].branch)).toEqual(['0.5 token queue retry limit not'])
    // It is still open: a second task that finds it brings it to main.
    await state(0, 'token queue retry limit not', { confidence: 0.9 })
    await project()
    expect(await known()).toContain('1 token queue retry limit not')
  })

  it('S2-022 S2-106 a fact that only a fact left behind connects with another makes that one neither durable nor surer', async () => {
    const { state, project, known } = await openProject({ memory: { threshold: 0.6 } })
    await state(0, 'cache token retry limit proxy not', { confidence: 0.8, category: 'insight' })
    await state(1, 'token queue retry limit not', { confidence: 0.5 })
    await state(2, 'token queue retry limit proxy not 10s', { confidence: 0.5, category: 'insight' })
    expect(await project()).toMatchObject({ durable: [], ephemeral: 3 })
    expect(await known()).toEqual([])
  })

  it('grouping a fact of many tasks gives the same as comparing each pair', async () => {
    const { project, known, team, call } = await openProject()
    const tasks = runs(30, 300)
    for (let nth = 0; nth < tasks; nth++) {
      const { branch } = await team(`Task ${nth}`)
      await call('mem:remember', { branch, text: nth % 3 === 0 ? `${sentence}!` : sentence, category: 'security' })
      await call('mem:remember', { branch, text: '!', category: 'security', confidence: 0.1 })
    }
    const { durable, ephemeral } = await project()
    expect(durable).toHaveLength(1)
    // Texts without words are alike to none, not even to each other.
    expect(ephemeral).toBe(tasks)
    expect((await known()).map((fact) => fact.slice(0, 30))).toEqual([`1 ${sentence}`.slice(0, 30)])
  })

  it('a fact that lost a contradiction does not count as durable', async () => {
    const { state, project, call, known } = await openProject({ memory: { onContradiction: 'highest-confidence' } })
    await call('mem:remember', { text: 'requests time out after 30 seconds', confidence: 1 })
    await state(0, 'requests time out after 60 seconds', { confidence: 0.9 })
    expect(await project()).toMatchObject({ durable: [] })
    expect(await known()).toEqual(['1 requests time out after 30 seconds'])
    expect(await project()).toMatchObject({ durable: [], ephemeral: 0 })
  })
})
