// The second level: alike facts of an agent's sessions are merged and summarized.
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory, sentence, withoutRuns } from './world.ts'

const words = (...from: number[]) => from.map((at) => `word${at}`).join(' ')
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

/** An agent on a task with stated facts, so that only the agent level compares them. */
async function openAgent(options = {}) {
  const memory = await openMemory(options)
  const { taskId, branch, on } = await memory.team('Fix Auth', 'ada')
  return {
    ...memory,
    taskId,
    branch,
    own: on('ada'),
    state: (text: string, more: Json = {}) => memory.call('mem:remember', { text, taskId, agentId: 'ada', ...more }),
    agent: () => memory.call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId }),
  }
}

describe('Consolidation at the agent level', () => {
  it('S2-073 S2-074 facts of an agent are compared across its sessions, and chains of alike facts become one', async () => {
    const { state, agent, known, own } = await openAgent({ memory: { threshold: 0.6 } })
    // Each shares 9 of 12 words with its neighbours and 6 of 14 with the next but one.
    await state(words(...range(0, 10)), { sessionId: 's1' })
    await state(words(...range(2, 12)), { sessionId: 's2' })
    await state(words(...range(4, 14)), { sessionId: 's3' })
    await state('nothing in common with the others', { sessionId: 's3' })
    expect(await agent()).toMatchObject({ factsDeduplicated: 2, factsCreated: 0, factsUpdated: 0 })
    expect(await known(own)).toHaveLength(2)
  })

  it('S2-075 S2-079 the fact with the highest confidence, then the newest, supersedes the others and keeps its confidence', async () => {
    const { state, agent, facts, own } = await openAgent()
    const older = await state(sentence, { confidence: 0.9 })
    const newest = await state(`${sentence}.`, { confidence: 0.9 })
    const unsure = await state(`${sentence}?`, { confidence: 0.4 })
    await agent()
    const shown = (await facts(own)).filter(({ category }) => category !== 'summary')
    expect(
      Object.fromEntries(shown.map((fact) => [fact['id'], [fact['status'], fact['confidence'], fact['successorId']]])),
    ).toEqual({
      [older['factId']]: ['superseded', 0.9, newest['factId']],
      [newest['factId']]: ['active', 0.9, undefined],
      [unsure['factId']]: ['superseded', 0.4, newest['factId']],
    })
  })

  it("S2-076 an agent's facts are summarized in one fact with their number and the surest of them", async () => {
    const { state, agent, facts, own } = await openAgent()
    await state('caches are cold after a restart', { confidence: 0.5 })
    await state('queues are drained in order', { confidence: 0.9 })
    const { summary } = await agent()
    expect(summary).toBe(
      'ada found 2 facts. Key findings: queues are drained in order; caches are cold after a restart.',
    )
    expect(await facts(own, { category: 'summary' })).toMatchObject([
      { text: summary, status: 'active', agentId: 'ada' },
    ])
  })

  it('S2-076 an agent has one summary, which is rewritten only if its text changes', async () => {
    const { state, agent, facts, own } = await openAgent()
    await state('caches are cold after a restart')
    await agent()
    const [first] = await facts(own, { category: 'summary' })
    await agent()
    expect(await facts(own, { category: 'summary' })).toEqual([first])
    await state('queues are drained in order')
    await agent()
    const [second, replaced] = await facts(own, { category: 'summary' })
    expect(second).toMatchObject({ status: 'active', text: expect.stringContaining('2 facts') as string })
    expect(replaced).toMatchObject({ id: first?.['id'], status: 'superseded', successorId: second?.['id'] })
  })

  it('S2-076 a summary is neither compared, judged, merged nor recalled', async () => {
    const { state, agent, call, known, own, branch, taskId } = await openAgent({
      memory: { durableThreshold: 0, durableCategories: ['summary', 'insight'] },
    })
    await state('caches are cold after a restart')
    const { summary } = await agent()
    expect(await agent()).toMatchObject({ factsDeduplicated: 0 })
    await call('mem:observe', { sessionId: 's9', type: 'insight', content: summary, taskId, agentId: 'ada' })
    expect(await call('mem:consolidate', { level: 'session', sessionId: 's9' })).toMatchObject({ factsCreated: 1 })
    await call('mem:merge', { branch: own })
    expect(await known(branch)).toHaveLength(2)
    const { durable } = await call('mem:consolidate', { level: 'task', taskId })
    expect(durable).toHaveLength(2)
    const { chunks } = await call('mem:retrieve', { query: 'found', branch: own })
    expect((chunks as Json[]).map(({ category }) => category)).toEqual(['insight'])
  })

  it('S2-077 an unknown agent is NOT_FOUND, on a task and without one', async () => {
    const { call, taskId, own } = await openAgent()
    for (const where of [{ taskId }, {}, { branch: own }]) {
      const refusal = await refusalOf(
        call('mem:consolidate', { level: 'agent', agentId: 'bob', ...where }),
        'NOT_FOUND',
      )
      expect(refusal.details).toMatchObject({ agentId: 'bob' })
    }
    await refusalOf(call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId: 'task-missing' }), 'NOT_FOUND')
  })

  it('S2-078 consolidating an agent without facts, or with one, changes nothing', async () => {
    const { state, agent, facts, own } = await openAgent()
    const { summary, ...none } = await agent()
    expect(summary).toBeUndefined()
    expect(none).toMatchObject({ factsDeduplicated: 0, factsCreated: 0, factsUpdated: 0 })
    expect(await facts(own)).toEqual([])
    await state(sentence)
    expect(await agent()).toMatchObject({ factsDeduplicated: 0 })
  })

  it('consolidating an agent twice changes nothing the second time', async () => {
    const { state, agent, tables } = await openAgent()
    for (const text of [sentence, `${sentence}.`, 'something else']) await state(text)
    await agent()
    const before = await tables()
    await agent()
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
  })

  it('an agent is consolidated on its latest task when none is named', async () => {
    const { state, call, own } = await openAgent()
    await state(sentence)
    const { historyId } = await call('mem:consolidate', { level: 'agent', agentId: 'ada' })
    const { history } = await call('mem:history', { agentId: 'ada' })
    expect(history).toMatchObject([{ id: historyId, sourceBranch: own }])
  })

  it('contradicting facts are not merged, although a third fact is alike to both', async () => {
    const { state, agent, known, own } = await openAgent({ memory: { threshold: 0.5 } })
    const about = 'requests to the billing service time out after'
    await state(`${about} 30 seconds`, { confidence: 0.9 })
    await state(`${about} 60 seconds`, { confidence: 0.9 })
    await state(`${about} some seconds`)
    await agent()
    const texts = (await known(own)).map((line) => line.slice(4))
    expect(texts.some((text) => text.includes('30'))).toBe(true)
    expect(texts.some((text) => text.includes('60'))).toBe(true)
    expect(texts).toHaveLength(2)
  })

  it('a fact that supersedes a disputed one is disputed', async () => {
    const { see, session, call, facts, taskId, own, agent } = await openAgent()
    for (const content of ['the limit is 1000 requests', 'the limit is 100 requests']) {
      await see(content, { taskId, agentId: 'ada' })
    }
    await session()
    await call('mem:remember', { text: 'The limit is 100 requests.', taskId, agentId: 'ada', confidence: 0.9 })
    await agent()
    const shown = (await facts(own, { status: 'active' })).filter(({ category }) => category !== 'summary')
    expect(shown.map(({ text, disputed }) => [text, disputed])).toEqual([
      ['The limit is 100 requests.', true],
      ['the limit is 1000 requests', true],
    ])
  })

  it('a branch shared by agents has a summary for each of them', async () => {
    const { call, facts } = await openMemory()
    await call('mem:remember', { text: 'caches are cold after a restart', agentId: 'ada' })
    await call('mem:remember', { text: 'queues are drained in order', agentId: 'bob' })
    for (const agentId of ['ada', 'bob']) await call('mem:consolidate', { level: 'agent', agentId, branch: 'main' })
    expect((await facts('main', { category: 'summary' })).map(({ text }) => text)).toEqual([
      'bob found 1 fact. Key findings: queues are drained in order.',
      'ada found 1 fact. Key findings: caches are cold after a restart.',
    ])
  })
})
