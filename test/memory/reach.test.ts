// The scope of a task's run or model: it reads its own branch and those above, and writes only to its own.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { TeamRecord } from '../../src/entities/team.ts'
import type { Op } from '../../src/ledger/ledger.ts'
import { beginStint } from '../../src/memory/team/team.ts'
import { loadTask } from '../../src/operations/steps/step-context.ts'
import { refusalOf } from '../engine/world.ts'
import { modelOf } from '../operations/world.ts'
import { type Json, openMemory } from './world.ts'

/** A team with ada, an engine task below the team's, and bob from outside; and a task without a team. */
async function openReach() {
  const memory = await openMemory({ model: createScriptedModel([{ text: 'Done' }]) })
  const { taskId, branch } = await memory.team('Fix Auth', 'bob')
  const spec = { name: 'ada’s work', goal: 'Work', parentId: taskId, agentId: 'ada' }
  const { id: workerId } = await memory.engine.create(spec)
  await memory.ledger.step({
    name: 'begin',
    *decide(tx): Op<void> {
      const team = (yield* tx.team.get(taskId)) as TeamRecord
      const given = { agentId: 'ada', role: null, objectives: [], workerId }
      yield* beginStint(tx, team, yield* loadTask(tx, taskId), given, { at: 1, instanceId: 'instance-a' })
    },
  })
  const lone = await memory.engine.create({ name: 'alone' })
  return {
    ...memory,
    taskId,
    branch,
    own: `${branch}/ada`,
    other: `${branch}/bob`,
    workerId: workerId as string,
    ada: memory.as(modelOf(workerId)),
    loneId: lone.id,
    alone: memory.as(modelOf(lone.id)),
  }
}

const insight = { type: 'insight', content: 'so it is' }

describe('The model of a task', () => {
  it("S2-016 a task's model writes only to its own branch, by default in its own session", async () => {
    const { ada, own, branch, other, taskId, workerId, call, tables } = await openReach()
    await ada('mem:observe', insight)
    const { observations } = await call('mem:observations', {})
    expect(observations).toMatchObject([{ branch: own, sessionId: workerId, taskId, agentId: 'ada' }])
    const before = await tables()
    for (const place of [branch, other, 'main', 'task/nowhere']) {
      await refusalOf(ada('mem:observe', { ...insight, branch: place }), 'FORBIDDEN')
      await refusalOf(ada('mem:remember', { text: 'x', branch: place }), 'FORBIDDEN')
      await refusalOf(ada('mem:consolidate', { level: 'session', sessionId: 's', branch: 'main' }), 'FORBIDDEN')
    }
    await refusalOf(ada('mem:observe', { ...insight, taskId, agentId: 'bob' }), 'FORBIDDEN')
    await refusalOf(ada('mem:observe', { ...insight, taskId }), 'FORBIDDEN')
    expect(await tables()).toEqual(before)
    await ada('mem:observe', { ...insight, taskId, agentId: 'ada' })
    await ada('mem:remember', { text: 'y' })
  })

  it("S2-016 a task's model cannot merge above its team, with or without a named target", async () => {
    const { memory, branch, workerId, tables } = await openReach().then((world) => ({ memory: world, ...world }))
    await memory.call('mem:remember', { branch, text: 'so it is' })
    const before = await tables()
    const run = memory.as({ surface: 'run', taskId: workerId })
    await refusalOf(run('mem:merge', { branch, into: 'main' }), 'FORBIDDEN')
    await refusalOf(run('mem:merge', { branch }), 'FORBIDDEN')
    expect(await tables()).toEqual(before)
  })

  it("S2-016 a task's model reads only its own branch and those above", async () => {
    const { ada, own, branch, other, call } = await openReach()
    for (const [place, text] of [
      [own, 'ada knows rye'],
      [branch, 'the team knows rye'],
      ['main', 'all know rye'],
      [other, 'bob knows rye'],
    ] as const)
      await call('mem:remember', { text, branch: place })
    const { chunks } = await ada('mem:retrieve', { query: 'rye' })
    expect((chunks as Json[]).map(({ text }) => text as string).sort()).toEqual([
      'ada knows rye',
      'all know rye',
      'the team knows rye',
    ])
    for (const place of [own, branch, 'main'])
      expect((await ada('mem:facts', { branch: place }))['facts']).toHaveLength(1)
    expect((await ada('mem:facts', {}))['facts']).toMatchObject([{ text: 'ada knows rye' }])
    const [hidden] = (await call('mem:facts', { branch: other }))['facts'] as Json[]
    await refusalOf(ada('mem:facts', { branch: other }), 'FORBIDDEN')
    await refusalOf(ada('mem:observations', { branch: other }), 'FORBIDDEN')
    await refusalOf(ada('mem:retrieve', { query: 'rye', branch: other }), 'FORBIDDEN')
    await refusalOf(ada('mem:why', { factId: hidden?.['id'] }), 'FORBIDDEN')
    expect((await ada('mem:observations', {}))['observations']).toEqual([])
  })

  it("mem:why shows a task's model a fact above without observations of other branches below", async () => {
    const { ada, call, branch, other, taskId } = await openReach()
    await call('mem:observe', { sessionId: 's', type: 'insight', content: 'bob knows rye', taskId, agentId: 'bob' })
    await call('mem:consolidate', { level: 'session', sessionId: 's' })
    await call('mem:merge', { branch: other })
    const [fact] = (await call('mem:facts', { branch }))['facts'] as Json[]
    expect((await call('mem:why', { factId: fact?.['id'] }))['sources']).toHaveLength(1)
    expect(await ada('mem:why', { factId: fact?.['id'] })).toMatchObject({ fact, sources: [] })
  })

  it('a model whose stint has ended still reads and writes its branch', async () => {
    const { ada, own, call, taskId } = await openReach()
    await call('agent:complete', { taskId, agentId: 'ada' })
    await ada('mem:observe', insight)
    const { observations } = await call('mem:observations', { branch: own })
    expect(observations).toMatchObject([{ content: 'so it is', agentId: 'ada' }])
  })

  it("a task's model consolidates within its team and nothing beyond", async () => {
    const { ada, alone, own, taskId, call } = await openReach()
    await ada('mem:observe', insight)
    expect(await ada('mem:consolidate', { level: 'session' })).toMatchObject({ factsCreated: 1 })
    expect(await ada('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })).toMatchObject({
      summary: expect.stringContaining('1 fact') as string,
    })
    expect(await ada('mem:consolidate', { level: 'task', taskId })).toMatchObject({ durable: [] })
    await refusalOf(ada('mem:consolidate', { level: 'project' }), 'FORBIDDEN')
    await refusalOf(alone('mem:consolidate', { level: 'task', taskId }), 'FORBIDDEN')
    await refusalOf(alone('mem:consolidate', { level: 'agent', agentId: 'ada', taskId }), 'FORBIDDEN')
    await refusalOf(alone('mem:consolidate', { level: 'session', branch: own }), 'FORBIDDEN')
    expect((await call('mem:facts', { branch: own, category: 'insight' }))['facts']).toHaveLength(1)
  })

  it('V-05 a model without a team writes to a branch of its own and reads main', async () => {
    const { alone, loneId, branch, call } = await openReach()
    await call('mem:remember', { text: 'all know rye' })
    // Before it has a branch of its own, too.
    await refusalOf(alone('mem:consolidate', { level: 'session', branch: 'main' }), 'FORBIDDEN')
    expect((await alone('mem:facts', {}))['facts']).toMatchObject([{ text: 'all know rye' }])
    await alone('mem:observe', insight)
    await alone('mem:consolidate', { level: 'session' })
    const own = { text: 'so it is', branch: 'task/alone', sessionId: loneId, taskId: loneId }
    expect((await alone('mem:facts', {}))['facts']).toMatchObject([own])
    expect((await alone('mem:retrieve', { query: 'rye' }))['chunks']).toMatchObject([{ text: 'all know rye' }])
    expect((await call('mem:facts', { branch: 'main' }))['facts']).toMatchObject([{ text: 'all know rye' }])
    for (const reached of ['main', branch]) {
      await refusalOf(alone('mem:observe', { ...insight, branch: reached }), 'FORBIDDEN')
      await refusalOf(alone('mem:remember', { text: 'x', branch: reached }), 'FORBIDDEN')
    }
    await refusalOf(alone('mem:consolidate', { level: 'session', branch: 'main' }), 'FORBIDDEN')
    await refusalOf(alone('mem:facts', { branch }), 'FORBIDDEN')
    await refusalOf(alone('mem:observe', { ...insight, branch }), 'FORBIDDEN')
  })

  it("X-037 refusals do not reveal tasks and branches outside a model's scope", async () => {
    const { ada, loneId } = await openReach()
    for (const taskId of [loneId, 'task-missing'])
      await refusalOf(ada('mem:retrieve', { query: 'x', taskId }), 'FORBIDDEN')
    for (const branch of ['task/nowhere', 'task/other']) await refusalOf(ada('mem:facts', { branch }), 'FORBIDDEN')
  })

  it('a model is not offered merges, branches, the history and archives', async () => {
    const { ada, workerId, engine, own } = await openReach()
    const offered = engine.bus.toolsFor(modelOf(workerId)).definitions.map(({ function: { name } }) => name)
    expect(offered.filter((name) => name.startsWith('mem_')).sort()).toEqual([
      'mem_consolidate',
      'mem_facts',
      'mem_observations',
      'mem_observe',
      'mem_remember',
      'mem_retrieve',
      'mem_why',
    ])
    await refusalOf(ada('mem:merge', { branch: own }), 'FORBIDDEN')
    await refusalOf(ada('mem:history', {}), 'FORBIDDEN')
  })
})

describe('The run of a task', () => {
  it('a run of a task merges and archives within its team, and saves its own episodes', async () => {
    const { as, workerId, own, other, branch, taskId, call, loneId } = await openReach()
    const run = as({ surface: 'run', taskId: workerId, run: 1 })
    await run('mem:remember', { text: 'ada knows' })
    expect(await run('mem:merge', { branch: own })).toMatchObject({ merged: 1 })
    await refusalOf(run('mem:merge', { branch, into: 'main' }), 'FORBIDDEN')
    await refusalOf(run('mem:archive', { branch: 'main' }), 'FORBIDDEN')
    expect(await run('mem:archive', { branch: other })).toMatchObject({ branches: [other] })
    expect(await run('mem:history', {})).toMatchObject({ history: [{ type: 'merge' }] })
    await refusalOf(run('mem:history', { branch: other }), 'FORBIDDEN')
    await refusalOf(run('mem:branches', {}), 'FORBIDDEN')
    await run('mem:save', { task: { id: workerId, name: 'ada’s work', status: 'done' } })
    await refusalOf(run('mem:save', { task: { id: loneId } }), 'FORBIDDEN')
    const { facts } = await call('mem:facts', { branch, category: 'episode' })
    expect(facts).toMatchObject([{ taskId: workerId, text: 'ada’s work — done' }])
    expect(taskId).not.toBe(workerId)
  })
})
