// The history of consolidation: every run and every decision, and nothing else.
import { describe, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory, sentence, withoutRuns } from './world.ts'

describe('The history', () => {
  it('S2-095 S2-096 S2-097 S2-098 S2-099 the history has each run with its scope and its actual outcome', async () => {
    const { see, call, team } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada')
    const agent = { taskId, agentId: 'ada' }
    await see(sentence, agent)
    await see(sentence, agent)
    await call('mem:consolidate', { level: 'session', sessionId: 's1' })
    await call('mem:remember', { text: sentence, ...agent })
    const { summary } = await call('mem:consolidate', { level: 'agent', ...agent })
    await call('mem:merge', { branch: on('ada') })
    await call('mem:consolidate', { level: 'task', taskId })
    await call('mem:consolidate', { level: 'project' })
    const { history } = await call('mem:history', {})
    const counts = ({ observationsProcessed, factsCreated, factsUpdated, factsDeduplicated }: Json) => [
      observationsProcessed,
      factsCreated,
      factsUpdated,
      factsDeduplicated,
    ]
    const shown = (history as Json[]).map((run) => [run['type'], run['sourceBranch'], run['targetBranch'], counts(run)])
    expect(shown.reverse()).toEqual([
      ['session_end', on('ada'), on('ada'), [2, 1, 1, 0]],
      ['agent_complete', on('ada'), branch, [0, 0, 0, 1]],
      ['merge', on('ada'), branch, [0, 1, 0, 0]],
      ['task_checkpoint', branch, 'main', [0, 0, 1, 0]],
      ['project_checkpoint', branch, 'main', [0, 0, 0, 0]],
    ])
    const summaries = (history as Json[]).map((run) => run['summary'] as string | undefined).reverse()
    expect(summaries).toEqual([
      undefined,
      summary,
      expect.stringContaining('reached') as string,
      expect.stringContaining('0 durable and 1 ephemeral') as string,
      expect.stringContaining('1 task: 0 facts reached main, 1 other did not.') as string,
    ])
    expect((history as Json[]).every(({ trigger }) => trigger === 'ability')).toBe(true)
  })

  it('S2-095 the history includes runs that found nothing', async () => {
    const { call } = await openMemory()
    const { historyId } = await call('mem:consolidate', { level: 'session', sessionId: 'missing' })
    const { history } = await call('mem:history', {})
    expect(history).toMatchObject([{ id: historyId, observationsProcessed: 0 }])
  })

  it('S2-100 mem:history filters by task, agent, session, type and branch, in pages', async () => {
    const { see, call, team, session } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada', 'bob')
    await see(sentence, { taskId, agentId: 'ada' })
    await see(sentence, { taskId, agentId: 'bob', sessionId: 's2' })
    await see(sentence, { sessionId: 's3' })
    for (const id of ['s1', 's2', 's3']) await session(id)
    await call('mem:merge', { branch: on('ada') })
    const found = async (query: Json) =>
      ((await call('mem:history', query))['history'] as Json[])
        .map(({ type, sessionId }) => (sessionId as string | undefined) ?? (type as string))
        .sort()
    expect(await found({ taskId })).toEqual(['merge', 's1', 's2'])
    expect(await found({ agentId: 'bob' })).toEqual(['s2'])
    expect(await found({ sessionId: 's3' })).toEqual(['s3'])
    expect(await found({ type: 'merge' })).toEqual(['merge'])
    expect(await found({ branch })).toEqual(['merge'])
    expect(await found({ branch: 'main' })).toEqual(['s3'])
    const first = await call('mem:history', { limit: 3 })
    const rest = await call('mem:history', { limit: 3, before: first['next'] })
    expect([(first['history'] as Json[]).length, (rest['history'] as Json[]).length, rest['next']]).toEqual([
      3,
      1,
      null,
    ])
  })

  it('S2-100 mem:history refuses an unknown type', async () => {
    const { call } = await openMemory()
    await refusalOf(call('mem:history', { type: 'nap' }), 'INVALID_INPUT')
  })

  it("mem:why shows a fact's observations, the runs that confirmed it, and the merge that copied it", async () => {
    const { see, call, team, session, facts } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada', 'bob')
    const ids: Record<string, string> = {}
    for (const [sessionId, agentId] of [
      ['s1', 'ada'],
      ['s2', 'ada'],
      ['s3', 'bob'],
    ] as const) {
      ids[sessionId] = await see(sentence, { sessionId, taskId, agentId })
      await session(sessionId)
    }
    await call('mem:merge', { branch: on('ada') })
    await call('mem:merge', { branch: on('bob') })
    const [fact] = await facts(branch)
    const why = await call('mem:why', { fact_id: fact?.['id'] })
    expect(why['fact']).toEqual(fact)
    expect((why['decisions'] as Json[]).map(({ kind, before, after, type }) => [kind, before, after, type])).toEqual([
      ['carried', undefined, 0.8, 'merge'],
      ['boosted', 0.8, 0.9, 'merge'],
    ])
    const shown = (why['sources'] as Json[]).map((source) => [
      (source['fact'] as Json)['branch'],
      (source['observations'] as Json[]).map(({ id }) => id as string),
      (source['decisions'] as Json[]).map(({ kind }) => kind as string),
    ])
    expect(shown).toEqual([
      [on('ada'), [ids['s1'], ids['s2']], ['created', 'boosted']],
      [on('bob'), [ids['s3']], ['created']],
    ])
  })

  it('mem:why shows the successor of a superseded fact; an unknown fact is NOT_FOUND', async () => {
    const { call, team, facts } = await openMemory()
    const { taskId, on } = await team('Fix Auth', 'ada')
    const { factId } = await call('mem:remember', { text: sentence, taskId, agentId: 'ada', confidence: 0.5 })
    await call('mem:remember', { text: sentence, taskId, agentId: 'ada' })
    await call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })
    const { successor, decisions } = await call('mem:why', { factId })
    const [survivor] = await facts(on('ada'), { status: 'active', category: 'insight' })
    expect(successor).toEqual(survivor)
    expect(decisions).toMatchObject([{ kind: 'superseded', otherId: survivor?.['id'], similarity: 1 }])
    await refusalOf(call('mem:why', { factId: 'fact-missing' }), 'NOT_FOUND')
  })
})

describe('What is missing', () => {
  it('S2-057 S2-058 mem:consolidate names a missing field of a level and refuses an unknown level', async () => {
    const { call } = await openMemory()
    for (const [level, missing] of [
      ['session', 'sessionId'],
      ['agent', 'agentId'],
      ['task', 'taskId'],
    ]) {
      const refusal = await refusalOf(call('mem:consolidate', { level }), 'INVALID_INPUT')
      expect(refusal.details).toMatchObject({ level, missing })
    }
    await refusalOf(call('mem:consolidate', { level: 'galaxy' }), 'INVALID_INPUT')
  })
})

describe('A consolidation that fails', () => {
  it.each(['session', 'agent', 'task', 'project'] as const)(
    'S2-101 a consolidation that fails at the level %s changes neither facts nor history and can be repeated',
    async (level) => {
      const ledger = createFaultyLedger(await openLedger(':memory:'))
      const { see, call, team, tables } = await openMemory({ ledger })
      const { taskId } = await team('Fix Auth', 'ada')
      const agent = { taskId, agentId: 'ada' }
      await call('mem:remember', { text: sentence, taskId, category: 'security', confidence: 0.9 })
      for (const text of [sentence, 'another finding']) await call('mem:remember', { text, ...agent })
      await call('mem:remember', { text: sentence, ...agent })
      await see(sentence, agent)
      const request = { level, sessionId: 's1', agentId: 'ada', taskId }
      const before = await tables()
      ledger.fail(`consolidate ${level}`, 'refused')
      await refusalOf(call('mem:consolidate', request), 'LEDGER_WRITE_FAILED')
      expect(await tables()).toEqual(before)
      await call('mem:consolidate', request)
      expect(await tables()).not.toEqual(before)
      await ledger.close()
    },
  )

  it('S2-101 a consolidation that was committed although its commit seemed to fail is not repeated', async () => {
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    const { see, call, tables, known } = await openMemory({ ledger })
    await see(sentence)
    await see(sentence)
    ledger.fail('consolidate session', 'kept')
    await refusalOf(call('mem:consolidate', { level: 'session', sessionId: 's1' }), 'OUTCOME_UNKNOWN')
    const before = await tables()
    await call('mem:consolidate', { level: 'session', sessionId: 's1' })
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
    expect(await known()).toEqual([`0.8 ${sentence}`])
    await ledger.close()
  })
})
