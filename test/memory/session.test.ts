// The first level: observations of a session become facts.
import { describe, expect, it } from 'vitest'
import { openMemory, sentence, withoutRuns } from './world.ts'

/** `count` distinct words; two such texts that share all but the last few have the likeness that the test computes. */
const wordy = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `word${from + at}`).join(' ')

describe('The observations of a session', () => {
  it('S2-060 S2-061 S2-068 insights, decisions and discoveries become facts; other observations are not counted', async () => {
    const { see, session, facts, call } = await openMemory()
    await see('an insight of its own kind')
    await see('we decided to ship on Monday', { type: 'decision' })
    await see('there is a second database behind the proxy', { type: 'discovery' })
    await see('npm test', { type: 'tool_use' })
    await see('connection refused', { type: 'error' })
    expect(await session()).toEqual({
      observationsProcessed: 3,
      factsCreated: 3,
      factsUpdated: 0,
      factsDeduplicated: 0,
      historyId: expect.stringMatching(/^cons-/) as string,
    })
    expect((await facts()).map(({ category }) => category)).toEqual(['discovery', 'decision', 'insight'])
    const { observations } = await call('mem:observations', { types: ['tool_use', 'error'] })
    expect((observations as object[]).every((each) => !('consolidatedBy' in each))).toBe(true)
  })

  it('S2-064 S2-066 an observation becomes a fact with confidence 0.7 and its origin', async () => {
    const { see, session, facts, team } = await openMemory()
    const { taskId, on } = await team('Fix Auth', 'ada')
    const observationId = await see(sentence, { taskId, agentId: 'ada' })
    await session()
    expect(await facts(on('ada'))).toMatchObject([
      {
        text: sentence,
        confidence: 0.7,
        status: 'active',
        observationId,
        sessionId: 's1',
        taskId,
        agentId: 'ada',
        branch: on('ada'),
      },
    ])
  })

  it('S2-062 S2-065 an alike observation raises a fact from 0.7 to 0.8, which is durable, and adds none', async () => {
    const { see, session, facts, team, call } = await openMemory()
    const { taskId, branch } = await team('Fix Auth')
    const decided = { taskId, type: 'decision' }
    await see(sentence, decided)
    await session()
    expect(await call('mem:consolidate', { level: 'task', taskId })).toMatchObject({ durable: [], ephemeral: 1 })
    await see(`${sentence}!`, { ...decided, sessionId: 's2' })
    expect(await session('s2')).toMatchObject({ factsCreated: 0, factsUpdated: 1, factsDeduplicated: 0 })
    const [fact, ...others] = await facts(branch)
    expect([fact?.['confidence'], fact?.['text'], others]).toEqual([0.8, sentence, []])
    const { durable } = await call('mem:consolidate', { level: 'task', taskId })
    expect(durable).toEqual([fact?.['id']])
  })

  it('S2-063 an observation of a fact with full confidence counts as a duplicate', async () => {
    const { see, session, known } = await openMemory()
    const seen: unknown[] = []
    for (const sessionId of ['s1', 's2', 's3', 's4', 's5', 's6']) {
      await see(sentence, { sessionId })
      const { factsUpdated, factsDeduplicated } = await session(sessionId)
      seen.push([await known(), factsUpdated, factsDeduplicated])
    }
    expect(seen).toEqual([
      [[`0.7 ${sentence}`], 0, 0],
      [[`0.8 ${sentence}`], 1, 0],
      [[`0.9 ${sentence}`], 1, 0],
      [[`1 ${sentence}`], 1, 0],
      [[`1 ${sentence}`], 0, 1],
      [[`1 ${sentence}`], 0, 1],
    ])
  })

  it('S2-067 alike observations of one session become one fact with the counted confidence', async () => {
    const { see, session, known, ledger } = await openMemory()
    await see(sentence)
    await see(sentence)
    expect(await session()).toMatchObject({ observationsProcessed: 2, factsCreated: 1, factsUpdated: 1 })
    expect(await known()).toEqual([`0.8 ${sentence}`])
    const [stored] = await ledger.read((tx) => tx.fact.list({ branches: ['main'] }, 10, 1_000))
    expect(stored?.confidence).toBe(80)
  })

  it('S2-069 consolidating a session without observations changes nothing', async () => {
    const { session } = await openMemory()
    expect(await session('missing')).toMatchObject({
      observationsProcessed: 0,
      factsCreated: 0,
      factsUpdated: 0,
      factsDeduplicated: 0,
    })
  })

  it('S2-070 observations are consumed once, and a second run changes only the history', async () => {
    const { see, session, tables } = await openMemory()
    await see(sentence)
    await see(sentence)
    await see('a fact about something else altogether')
    await session()
    const before = await tables()
    expect(await session()).toMatchObject({ observationsProcessed: 0, factsUpdated: 0 })
    const after = await tables()
    expect(withoutRuns(after)).toEqual(withoutRuns(before))
    expect(after.runs).toHaveLength(before.runs.length + 1)
  })

  it('S2-071 an observation confirms the fact most alike to it', async () => {
    const { see, session, known } = await openMemory({ memory: { threshold: 0.5 } })
    // 8 of 10 and 9 of 10 words in common with the later observation, and not alike to each other.
    await see(`${wordy(8)} alpha1 alpha2 alpha3 alpha4 alpha5 alpha6 alpha7 alpha8`)
    await see(`${wordy(9)} beta1 beta2 beta3 beta4 beta5 beta6 beta7 beta8`)
    await session()
    await see(wordy(10), { sessionId: 's2' })
    await session('s2')
    expect((await known()).map((line) => line.slice(0, 3))).toEqual(['0.7', '0.7', '0.7'])
    await see(`${wordy(9)} beta1 beta2 beta3 beta4 beta5`, { sessionId: 's3' })
    await session('s3')
    expect((await known()).map((line) => line.slice(0, 3))).toEqual(['0.7', '0.8', '0.7'])
  })

  it('S2-071 among equally alike facts an observation confirms the surest, then the oldest', async () => {
    const { see, session, call, facts } = await openMemory()
    const state = async (text: string, confidence: number) =>
      (await call('mem:remember', { text, confidence }))['factId'] as string
    const [unsure, older, newer] = [
      await state(sentence, 0.5),
      await state(`${sentence}.`, 0.6),
      await state(`${sentence}!`, 0.6),
    ]
    await see(`${sentence}?`)
    await session()
    const sure = Object.fromEntries((await facts()).map(({ id, confidence }) => [id as string, confidence as number]))
    expect(sure).toEqual({ [unsure]: 0.5, [older]: 0.7, [newer]: 0.6 })
  })

  it('S2-071 an observation does not confirm a superseded fact', async () => {
    const { see, session, facts, call, team } = await openMemory()
    const { taskId, on } = await team('Fix Auth', 'ada')
    await see(sentence, { taskId, agentId: 'ada' })
    await session()
    await call('mem:remember', { text: sentence, confidence: 0.9, taskId, agentId: 'ada' })
    await call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })
    await see(sentence, { sessionId: 's2', taskId, agentId: 'ada' })
    await session('s2')
    const shown = (await facts(on('ada'))).filter(({ category }) => category !== 'summary')
    expect(shown.map(({ status, confidence }) => [status, confidence])).toEqual([
      ['active', 1],
      ['superseded', 0.7],
    ])
  })

  it('S2-072 observations are compared only with facts of their branch', async () => {
    const { see, session, known, team } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada', 'bob')
    await see(sentence)
    await see(sentence, { taskId })
    await see(sentence, { taskId, agentId: 'ada' })
    expect(await session('s1')).toMatchObject({ factsCreated: 3, factsUpdated: 0 })
    for (const name of ['main', branch, on('ada')]) expect(await known(name)).toEqual([`0.7 ${sentence}`])
    expect(await known(on('bob'))).toEqual([])
  })

  it('a session of one branch is consolidated without those of others', async () => {
    const { see, session, known, team } = await openMemory()
    const { taskId, branch } = await team('Fix Auth')
    await see(sentence)
    await see(sentence, { taskId })
    expect(await session('s1', { branch })).toMatchObject({ observationsProcessed: 1 })
    expect([await known(), await known(branch)]).toEqual([[], [`0.7 ${sentence}`]])
  })
})

describe('The threshold', () => {
  it('S2-089 the threshold is strict: 17 of 20 common words (0.85) are no duplicate, 18 are', async () => {
    const { see, session, known } = await openMemory()
    await see(wordy(20))
    await session()
    await see(wordy(17), { sessionId: 's2' })
    expect(await session('s2')).toMatchObject({ factsCreated: 1, factsUpdated: 0 })
    await see(wordy(20).replace('word0 word1 ', ''), { sessionId: 's3' })
    expect(await session('s3')).toMatchObject({ factsCreated: 0, factsUpdated: 1 })
    expect((await known()).map((line) => line.slice(0, 3))).toEqual(['0.8', '0.7'])
  })

  it('S2-103 the threshold can be configured', async () => {
    const { see, session } = await openMemory({ memory: { threshold: 0.4 } })
    await see(wordy(10))
    await see(wordy(5))
    expect(await session()).toMatchObject({ factsCreated: 1, factsUpdated: 1 })
  })

  it('S2-018 a session of a task is consolidated on each of its branches with pending observations, and no other', async () => {
    const { see, team, session, known } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada')
    await see('caches are cold after a restart', { taskId, agentId: 'ada' })
    await see('the nightly build takes an hour', { taskId })
    await see('trees lose leaves')
    expect(await session('s1', { taskId })).toMatchObject({ observationsProcessed: 2, factsCreated: 2 })
    expect([await known(on('ada')), await known(branch), await known()]).toEqual([
      ['0.7 caches are cold after a restart'],
      ['0.7 the nightly build takes an hour'],
      [],
    ])
    expect(await session('s1', { taskId })).toMatchObject({ observationsProcessed: 0 })
    await see('rivers carry sand', { taskId, agentId: 'ada' })
    // The session's task and agent are for the history, if no task is named.
    expect(await session('s1', { agentId: 'ada' })).toMatchObject({ observationsProcessed: 2, factsCreated: 2 })
  })
})
