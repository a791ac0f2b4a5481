// Recall: which facts are returned, and in which order.
import { describe, expect, it } from 'vitest'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory } from './world.ts'

const day = 24 * 60 * 60 * 1_000

async function openFacts(...facts: Array<[text: string, confidence?: number]>) {
  const clock = new SimulatedClock()
  const memory = await openMemory({ clock })
  const state = (text: string, confidence = 0.7, more: Json = {}) =>
    memory.call('mem:remember', { text, confidence, ...more })
  for (const [text, confidence] of facts) await state(text, confidence)
  return {
    ...memory,
    clock,
    state,
    recall: async (query: string, more: Json = {}) =>
      (await memory.call('mem:retrieve', { query, ...more }))['chunks'] as Json[],
    async texts(query: string, more: Json = {}) {
      const { chunks } = await memory.call('mem:retrieve', { query, ...more })
      return (chunks as Json[]).map(({ content }) => content as string)
    },
  }
}

describe('Recall', () => {
  it('C-29 mem:retrieve returns chunks as agents read them, best first, with the fields of each fact', async () => {
    const { recall } = await openFacts(['bread needs rye flour', 1], ['trees lose leaves'])
    expect(await recall('which flour does bread need?')).toEqual([
      {
        id: expect.stringMatching(/^fact-/) as string,
        content: 'bread needs rye flour',
        text: 'bread needs rye flour',
        category: 'insight',
        confidence: 1,
        statedBy: [{ kind: 'program' }],
        branch: 'main',
        score: 1,
      },
    ])
  })

  it('mem:retrieve matches word stems and ranks more matches higher', async () => {
    const { texts } = await openFacts(['tokens expire'], ['the tokens of sessions expire daily'], ['sessions are long'])
    expect((await texts('session token expiring daily'))[0]).toBe('the tokens of sessions expire daily')
    expect(await texts('breads and trees')).toEqual([])
  })

  it('mem:retrieve ranks equal texts by confidence', async () => {
    const { texts } = await openFacts(['rye bread one', 0.3], ['rye bread two', 1], ['rye bread three', 0.6])
    expect(await texts('rye bread')).toEqual(['rye bread two', 'rye bread three', 'rye bread one'])
  })

  it('mem:retrieve ranks equal texts by age, and age takes at most half of the weight', async () => {
    const { state, recall, clock } = await openFacts(['rye bread old'])
    clock.increment(30 * day)
    await state('rye bread new')
    const [first, second] = await recall('rye bread')
    expect([first?.['content'], second?.['content']]).toEqual(['rye bread new', 'rye bread old'])
    expect((second?.['score'] as number) / (first?.['score'] as number)).toBeCloseTo(0.75)
    clock.increment(10_000 * day)
    const [ancient] = await recall('rye bread old')
    expect(ancient?.['score']).toBeCloseTo(0.85 * 0.5)
  })

  it('mem:retrieve returns five facts by default, up to the limit, with the minimum confidence', async () => {
    const { texts } = await openFacts(
      ...Array.from({ length: 12 }, (_, at): [string, number] => [`rye ${at} bread`, at / 20]),
    )
    expect(await texts('rye')).toHaveLength(5)
    expect(await texts('rye', { limit: 11 })).toHaveLength(11)
    expect(await texts('rye', { limit: 0 })).toEqual([])
    expect(await texts('rye', { limit: 50, minConfidence: 0.5 })).toHaveLength(2)
    expect(await texts('rye', { limit: 50, min_confidence: 0.55 })).toHaveLength(1)
  })

  it('mem:retrieve omits superseded facts', async () => {
    const { call, texts, team } = await openMemory().then(async (memory) => ({
      ...memory,
      texts: async (query: string, branch: string) =>
        ((await memory.call('mem:retrieve', { query, branch }))['chunks'] as Json[]).map(
          ({ content }) => content as string,
        ),
    }))
    const { taskId, on } = await team('Bake', 'ada')
    await call('mem:remember', { text: 'bread needs rye', taskId, agentId: 'ada', confidence: 0.5 })
    await call('mem:remember', { text: 'bread needs rye!', taskId, agentId: 'ada' })
    await call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })
    expect(await texts('rye', on('ada'))).toEqual(['bread needs rye!'])
  })

  it('mem:retrieve searches by branch, by task and agent, else main', async () => {
    const { call, team, texts, state } = await openFacts(['rye on main'])
    const { taskId, branch, on } = await team('Bake', 'ada')
    await call('mem:remember', { text: 'rye of the team', branch })
    await state('rye of ada', 0.7, { branch: on('ada') })
    expect((await texts('rye')).sort()).toEqual(['rye on main'])
    expect((await texts('rye', { taskId })).sort()).toEqual(['rye of the team', 'rye on main'])
    expect((await texts('rye', { taskId, agentId: 'ada' })).sort()).toEqual([
      'rye of ada',
      'rye of the team',
      'rye on main',
    ])
    expect((await texts('rye', { branch: on('ada') })).sort()).toEqual(['rye of ada', 'rye of the team', 'rye on main'])
  })

  it.each([
    ['nothing', ''],
    ['signs', '?!* "" ( ) -- ^ :'],
    ['an operator', 'rye AND NOT bread OR NEAR(rye)'],
    ['a column', 'words : rye'],
    ['quotes', '"rye" "bre""ad"'],
    ['SQL', `'; drop table fact; --`],
    ['very many words', Array.from({ length: 10_000 }, (_, at) => `word${at}`).join(' ')],
    ['one very long word', 'x'.repeat(100_000)],
    ['another script', '面包需要黑麦'],
  ])('X-037 mem:retrieve treats a query with %s as words only', async (_title, query) => {
    const { recall, facts } = await openFacts(['bread needs rye'])
    expect(Array.isArray(await recall(query))).toBe(true)
    expect(await facts()).toHaveLength(1)
  })

  it('mem:retrieve finds texts written without spaces', async () => {
    const { texts } = await openFacts(['会话令牌保存在浏览器里'], ['bread needs rye'])
    expect(await texts('令牌')).toEqual(['会话令牌保存在浏览器里'])
  })

  it('mem:retrieve of an empty memory is empty; an unknown branch is refused', async () => {
    const { call } = await openMemory()
    expect(await call('mem:retrieve', { query: 'anything' })).toEqual({ chunks: [] })
    await refusalOf(call('mem:retrieve', { query: 'x', branch: 'nowhere' }), 'NOT_FOUND')
    await refusalOf(call('mem:retrieve', { query: 'x', limit: 101 }), 'INVALID_INPUT')
  })

  it('mem:retrieve finds a sure fact below many better matches', async () => {
    const { state, texts } = await openFacts([
      'bread needs rye flour, and besides that water, salt and a long night of rest',
      1,
    ])
    for (let nth = 0; nth < 150; nth++) await state(`rye flour ${nth}`, 0.3)
    expect(await texts('rye flour', { minConfidence: 0.9 })).toEqual([
      'bread needs rye flour, and besides that water, salt and a long night of rest',
    ])
  })
})
