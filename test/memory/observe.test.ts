// Observations: on which branch they are stored, in which spelling they are given, and when they are consolidated by number.
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { openMemory, sentence } from './world.ts'

describe('An observation', () => {
  it('S2-058 an observation is stored unchanged with its session, outcome, task and agent', async () => {
    const { call, see } = await openMemory()
    const id = await see('npm test passes', { type: 'tool_use', outcome: '12 passed', agentId: 'ada' })
    const { observations } = await call('mem:observations', { sessionId: 's1' })
    expect(observations).toEqual([
      {
        id,
        sessionId: 's1',
        branch: 'main',
        type: 'tool_use',
        content: 'npm test passes',
        outcome: '12 passed',
        agentId: 'ada',
        statedBy: { kind: 'program' },
        createdAt: expect.any(Number),
      },
    ])
  })

  it("an observation is stored on the named branch, else the agent's, else the task's, else main", async () => {
    const { see, team, call } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada')
    const places: unknown[] = []
    for (const where of [
      { branch, taskId, agentId: 'ada' },
      { taskId, agentId: 'ada' },
      { taskId },
      // An agent that never joined uses the branch of the task.
      { taskId, agentId: 'bob' },
      { agentId: 'ada' },
      {},
    ]) {
      const id = await see('seen', where)
      const { observations } = await call('mem:observations', {})
      places.push((observations as Array<{ id: string; branch: string }>).find((each) => each.id === id)?.branch)
    }
    expect(places).toEqual([branch, on('ada'), branch, branch, 'main', 'main'])
  })

  it("an observation on an agent's branch belongs to that agent by default", async () => {
    const { see, team, call } = await openMemory()
    const { taskId, on } = await team('Fix Auth', 'ada')
    await see('seen', { branch: on('ada') })
    const { observations } = await call('mem:observations', { branch: on('ada') })
    expect(observations).toMatchObject([{ taskId, agentId: 'ada' }])
  })

  it('an observation and a stated fact are stored once per call identity', async () => {
    const { engine, call } = await openMemory()
    const seen = { sessionId: 's1', type: 'insight', content: 'so it is' } as const
    const say = (identity: string) => engine.bus.call('mem:observe', seen, { identity })
    const know = (identity: string) => engine.bus.call('mem:remember', { text: 'so it is' }, { identity })
    const [first, again, other] = [await say('t/1'), await say('t/1'), await say('t/2')]
    expect([again, other.observationId === first.observationId]).toEqual([first, false])
    expect((await call('mem:observations', {}))['observations']).toHaveLength(2)
    // Even if it was consumed or superseded meanwhile, a repeated call adds nothing.
    await call('mem:consolidate', { level: 'session', sessionId: 's1' })
    expect([await say('t/1'), await know('t/3'), await know('t/3')]).toEqual([
      first,
      { factId: expect.stringMatching(/^fact-[0-9a-f]{26}$/) },
      await know('t/3'),
    ])
    expect(engine.bus.get('mem:observe')?.onInterrupt).toBe('rerun')
    expect((await call('mem:facts', {}))['facts']).toHaveLength(2)
    expect(await call('mem:consolidate', { level: 'session', sessionId: 's1' })).toMatchObject({
      observationsProcessed: 0,
    })
  })

  it("observation fields may be given in the document's spelling, but not in both", async () => {
    const { call } = await openMemory()
    const said = { type: 'insight', content: 'so it is' }
    await call('mem:observe', { ...said, session_id: 's1', agent_id: 'ada' })
    const { observations } = await call('mem:observations', { session_id: 's1' })
    expect(observations).toMatchObject([{ sessionId: 's1', agentId: 'ada' }])
    const refusal = await refusalOf(
      call('mem:observe', { ...said, session_id: 's1', sessionId: 's2' }),
      'INVALID_INPUT',
    )
    expect(refusal.message).toContain('are the same option')
  })

  it('S2-108 an observation for an unknown or closed branch or an unknown task is refused', async () => {
    const { see, team, call, tables } = await openMemory()
    const { branch } = await team('Fix Auth')
    await call('mem:archive', { branch })
    const before = await tables()
    expect(await refusalOf(see('x', { branch: 'task/nowhere' }), 'NOT_FOUND')).toMatchObject({
      details: { branch: 'task/nowhere' },
    })
    await refusalOf(see('x', { branch }), 'BRANCH_CLOSED')
    await refusalOf(see('x', { taskId: 'task-missing' }), 'NOT_FOUND')
    expect(await tables()).toEqual(before)
  })

  it.each([
    ['no type that there is', { type: 'opinion' }, 'type'],
    ['nothing to say', { content: '  ' }, 'content'],
    ['more than a text holds', { content: 'x'.repeat(100_001) }, 'content'],
    ['a NUL', { content: 'a\u0000b' }, 'content'],
    ['half a character', { content: 'a\ud83d' }, 'content'],
    ['a key that there is not', { sesionId: 's1' }, 'sesionId'],
  ])('X-037 an observation with %s is refused, naming the field', async (_title, more, path) => {
    const { call, tables } = await openMemory()
    const refusal = await refusalOf(
      call('mem:observe', { sessionId: 's1', type: 'insight', content: 'x', ...more }),
      'INVALID_INPUT',
    )
    expect(JSON.stringify(refusal.details['issues'])).toContain(path)
    expect((await tables()).observations).toEqual([])
  })

  it('X-037 an observation may have the maximum length in any script', async () => {
    const { see, session, facts } = await openMemory()
    await see('y'.repeat(100_000))
    await see('👩‍👩‍👧 会话令牌保存在 cookie 里')
    expect(await session()).toMatchObject({ factsCreated: 2 })
    expect((await facts()).map(({ text }) => (text as string).length)).toEqual([25, 100_000])
  })

  it('an observation without a session is refused', async () => {
    const { call } = await openMemory()
    const refusal = await refusalOf(call('mem:observe', { type: 'insight', content: 'x' }), 'INVALID_INPUT')
    expect(refusal.details).toMatchObject({ missing: 'sessionId' })
  })
})

describe('A fact that is stated', () => {
  it('a stated fact is stored at once with inferred category and given confidence', async () => {
    const { call, facts } = await openMemory()
    await call('mem:remember', { text: 'the bug is fixed' })
    await call('mem:remember', { text: 'three layers', category: 'arch', confidence: 0.855 })
    expect((await facts()).map(({ category, confidence }) => [category, confidence])).toEqual([
      ['architecture', 0.86],
      ['bug_fix', 0.7],
    ])
    expect(await call('mem:observations', {})).toEqual({ observations: [], next: null })
  })

  it('a stated fact may not be a summary, exceed confidence 1, or contain what cannot be stored', async () => {
    const { call, tables } = await openMemory()
    for (const more of [
      { category: 'summary' },
      { confidence: 1.1 },
      { text: ' ' },
      { text: 'a\u0000' },
      { branch: '' },
    ]) {
      await refusalOf(call('mem:remember', { text: 'so it is', ...more }), 'INVALID_INPUT')
    }
    expect((await tables()).facts).toEqual([])
  })
})

describe('Every N observations', () => {
  it('S2-102 Q-07 consolidateEvery consolidates a session of a branch after so many observations', async () => {
    const { see, known, call } = await openMemory({ memory: { consolidateEvery: 3 } })
    await see('the first finding is about caches')
    await see('npm run build', { type: 'tool_use' })
    await see('another session says something', { sessionId: 's2' })
    await see('the second finding is about queues')
    expect(await known()).toEqual([])
    await see('the third finding is about locks')
    expect(await known()).toHaveLength(3)
    const { history } = await call('mem:history', {})
    expect(history).toMatchObject([
      { type: 'session_end', trigger: 'every-n', sessionId: 's1', observationsProcessed: 3 },
    ])
    await see('the fourth finding is about clocks')
    expect(await known()).toHaveLength(3)
  })

  it('observations are not consolidated by number by default', async () => {
    const { see, known, session } = await openMemory()
    for (let nth = 0; nth < 20; nth++) await see(sentence)
    expect(await known()).toEqual([])
    expect(await session()).toMatchObject({ observationsProcessed: 20 })
  })

  it('observations stay stored when the consolidation by number fails, and the next one tries again', async () => {
    let works = false
    const reported: unknown[] = []
    const { see, known } = await openMemory({
      memory: {
        consolidateEvery: 2,
        similarity: () => {
          if (works) return 0
          throw new Error('out of order')
        },
      },
      onError: (error, context) => reported.push([(error as Error).message, context['doing']]),
    })
    await see('the first finding is about caches')
    await see('the second finding is about queues')
    expect(await known()).toEqual([])
    expect(reported).toEqual([
      [
        expect.stringContaining('memory.similarity') as string,
        'consolidate a session with enough pending observations',
      ],
    ])
    works = true
    await see('the third finding is about locks')
    expect(await known()).toHaveLength(3)
  })
})
