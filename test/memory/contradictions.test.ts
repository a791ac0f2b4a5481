// Contradicting facts: how they are found and settled, and how the history records it.
import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { MemoryOptions } from '../../src/engine/engine-api.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory, withoutRuns } from './world.ts'

const thirty = 'requests to the billing service time out after 30 seconds'
const sixty = 'requests to the billing service time out after 60 seconds'

async function openDispute(memory: MemoryOptions = {}, clock: Clock = systemClock) {
  const world = await openMemory({ memory, clock })
  const { taskId, branch, on } = await world.team('Billing', 'ada', 'bob')
  return {
    ...world,
    taskId,
    branch,
    on,
    state: async (text: string, agentId: string, more: Json = {}) =>
      (await world.call('mem:remember', { text, taskId, agentId, ...more }))['factId'] as string,
    /** The decisions about a fact, in short. */
    async decided(factId: string) {
      const { decisions } = await world.call('mem:why', { factId })
      return (decisions as Json[]).map(({ kind, otherId, note }) => ({ kind, otherId, note }) as Json)
    },
  }
}

/** Text, whether it holds, whether it is disputed. */
const inShort = (facts: readonly Json[]) =>
  facts
    .map(
      ({ text, status, disputed }) => `${text as string}: ${status as string}${disputed === true ? ', disputed' : ''}`,
    )
    .reverse()

describe('A contradiction', () => {
  it.each([
    ['numbers', thirty, sixty],
    ['negation', 'the cache is cleared on restart', 'the cache is never cleared on restart'],
    ['numbers', 'the limit is 1,000 requests', 'the limit is 100 requests'],
  ])(
    'S2-104 Q-11 a contradiction is found by %s: “%s” and “%s” both stay and are flagged',
    async (ground, first, second) => {
      const { see, session, facts, decided } = await openDispute()
      await see(first)
      await session()
      await see(second, { sessionId: 's2' })
      expect(await session('s2')).toMatchObject({ factsCreated: 1, factsUpdated: 0 })
      const [newer, older] = await facts()
      expect(inShort(await facts())).toEqual([`${first}: active, disputed`, `${second}: active, disputed`])
      expect(await decided(newer?.['id'] as string)).toContainEqual({
        kind: 'contradicted',
        otherId: older?.['id'],
        note: `keep-both: ${ground}`,
      })
    },
  )

  it('S2-104 a contradiction between stated facts is found once, when they are compared', async () => {
    const { state, call, on, facts, taskId, tables } = await openDispute()
    await state(thirty, 'ada')
    await state(sixty, 'ada')
    await call('mem:consolidate', { level: 'agent', agentId: 'ada', taskId })
    const said = (await facts(on('ada'))).filter(({ category }) => category !== 'summary')
    expect(inShort(said)).toEqual([`${thirty}: active, disputed`, `${sixty}: active, disputed`])
    const { decisions } = await tables()
    expect(decisions.filter(({ kind }) => kind === 'contradicted')).toHaveLength(1)
  })

  it('a fact that contradicts very many others names only some of them', async () => {
    const { see, session, facts, tables } = await openDispute()
    const times = Array.from({ length: 60 }, (_, at) => `requests to the billing service time out after ${at + 10} s`)
    for (const text of times) await see(text)
    await session()
    expect((await facts()).filter(({ disputed }) => disputed === true)).toHaveLength(60)
    const { decisions } = await tables()
    const named = Map.groupBy(
      decisions.filter(({ kind }) => kind === 'contradicted'),
      ({ factId }) => factId,
    )
    expect(named.size).toBe(59)
    expect(Math.max(...[...named.values()].map(({ length }) => length))).toBe(20)
  })

  it('contradicting texts are not duplicates, however alike their words are', async () => {
    const { see, session, known } = await openDispute()
    const long = Array.from({ length: 40 }, (_, at) =>
      `word${at}`.replace(/\d+/, (n) => 'abcdefghij'[Number(n) % 10] + 'x'.repeat(Number(n))),
    ).join(' ')
    await see(`${long} takes 10ms`)
    await see(`${long} takes 20ms`)
    await session()
    expect(await known()).toEqual([`0.7 ${long} takes 10ms`, `0.7 ${long} takes 20ms`])
  })

  it.each([
    ['the same numbers', 'the limit is 1,000 requests', 'the limit was 1000 requests'],
    ['one has none', thirty, 'requests to the billing service time out after some time'],
    ['another subject', 'the queue holds 30 messages', 'the pool holds 60 connections'],
    ['denied twice', 'it is not never true of caches', 'it is true of caches'],
  ])('texts do not contradict each other where %s', async (_title, first, second) => {
    const { see, session, facts } = await openDispute()
    await see(first)
    await see(second)
    await session()
    expect((await facts()).some(({ disputed }) => disputed === true)).toBe(false)
  })

  it('S2-104 a contradiction between agents is found when their branches are merged', async () => {
    const { state, call, on, branch, facts } = await openDispute()
    const ada = await state(thirty, 'ada')
    const bob = await state(sixty, 'bob')
    await call('mem:merge', { branch: on('ada') })
    const { conflicts, merged, rejected } = await call('mem:merge', { branch: on('bob') })
    const [fromBob, fromAda] = await facts(branch)
    expect({ conflicts, merged, rejected }).toEqual({
      conflicts: [{ factId: bob, otherId: fromAda?.['id'], ground: 'numbers', resolution: 'keep-both' }],
      merged: 1,
      rejected: 0,
    })
    expect([fromAda?.['originId'], fromBob?.['originId']]).toEqual([ada, bob])
    expect(inShort(await facts(branch))).toEqual([`${thirty}: active, disputed`, `${sixty}: active, disputed`])
  })

  it('a contradiction is settled once', async () => {
    const { see, session, tables } = await openDispute()
    await see(thirty)
    await see(sixty)
    await session()
    for (const sessionId of ['s2', 's3']) {
      await see(thirty, { sessionId })
      await see(sixty, { sessionId })
      await session(sessionId)
    }
    const { decisions } = await tables()
    expect(decisions.filter(({ kind }) => kind === 'contradicted')).toHaveLength(1)
  })
})

describe('The policy', () => {
  it('S2-104 the policy newest lets the newer fact supersede the older', async () => {
    const { see, session, facts, decided } = await openDispute({ onContradiction: 'newest' })
    await see(thirty)
    await see(sixty)
    await session()
    const [newer, older] = await facts()
    expect(inShort(await facts())).toEqual([`${thirty}: superseded`, `${sixty}: active`])
    expect(older?.['successorId']).toBe(newer?.['id'])
    expect(await decided(older?.['id'] as string)).toContainEqual({
      kind: 'settled',
      otherId: newer?.['id'],
      note: 'newest: numbers',
    })
  })

  it('the policy newest compares when facts were found rather than merged', async () => {
    const clock = new SimulatedClock()
    const { state, call, on, branch, facts } = await openDispute({ onContradiction: 'newest' }, clock)
    const ada = await state(thirty, 'ada')
    clock.increment(1_000)
    await state(sixty, 'bob')
    await call('mem:merge', { branch: on('bob') })
    const { rejected, merged, conflicts } = await call('mem:merge', { branch: on('ada') })
    expect({ rejected, merged }).toEqual({ rejected: 1, merged: 0 })
    expect(conflicts).toMatchObject([{ factId: ada, resolution: 'target' }])
    expect(inShort(await facts(branch))).toEqual([`${sixty}: active`, `${thirty}: superseded`])
  })

  it('the policy newest prefers the fact found last although the other was merged since', async () => {
    const clock = new SimulatedClock()
    const { state, call, on, branch, facts } = await openDispute({ onContradiction: 'newest' }, clock)
    await state(thirty, 'ada')
    clock.increment(1_000)
    await state(sixty, 'bob')
    clock.increment(1_000)
    await call('mem:merge', { branch: on('ada') })
    clock.increment(1_000)
    expect(await call('mem:merge', { branch: on('bob') })).toMatchObject({ merged: 1, rejected: 0 })
    expect(inShort(await facts(branch))).toEqual([`${thirty}: superseded`, `${sixty}: active`])
  })

  it('the policy applies to stated facts as soon as they are compared', async () => {
    const { state, call, on, facts, taskId, tables } = await openDispute({ onContradiction: 'highest-confidence' })
    await state(thirty, 'ada', { confidence: 0.9 })
    await state(sixty, 'ada')
    const agent = { level: 'agent', agentId: 'ada', taskId }
    await call('mem:consolidate', agent)
    const said = async () => inShort((await facts(on('ada'))).filter(({ category }) => category !== 'summary'))
    expect(await said()).toEqual([`${thirty}: active`, `${sixty}: superseded`])
    const before = await tables()
    await call('mem:consolidate', agent)
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
  })

  it('S2-104 the policy highest-confidence keeps the fact with more confidence, then the newer', async () => {
    const { see, session, facts } = await openDispute({ onContradiction: 'highest-confidence' })
    await see(thirty)
    await see(thirty)
    await see(sixty)
    await session()
    expect(inShort(await facts())).toEqual([`${thirty}: active`, `${sixty}: superseded`])
    const equal = await openDispute({ onContradiction: 'highest-confidence' })
    await equal.see(thirty)
    await equal.see(sixty)
    await equal.session()
    expect(inShort(await equal.facts())).toEqual([`${thirty}: superseded`, `${sixty}: active`])
  })

  it('a merged fact that loses by policy counts as rejected and is not merged again', async () => {
    const { state, call, on, branch, facts, see, session, taskId, tables } = await openDispute({
      onContradiction: 'highest-confidence',
    })
    await state(thirty, 'ada', { confidence: 0.9 })
    await call('mem:merge', { branch: on('ada') })
    await see(sixty, { taskId, agentId: 'bob' })
    await session()
    expect(await call('mem:merge', { branch: on('bob') })).toMatchObject({ merged: 0, rejected: 1 })
    expect(inShort(await facts(branch))).toEqual([`${thirty}: active`, `${sixty}: superseded`])
    const before = await tables()
    expect(await call('mem:merge', { branch: on('bob') })).toMatchObject({ merged: 0, rejected: 0, conflicts: [] })
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
    // Although it has gained confidence, the fact that won against it does not.
    await see(sixty, { taskId, agentId: 'bob', sessionId: 's2' })
    await session('s2')
    await call('mem:merge', { branch: on('bob') })
    expect((await facts(branch)).map(({ confidence }) => confidence as number)).toEqual([0.7, 0.9])
  })

  it('S2-104 a judge receives both facts, the existing one first', async () => {
    const asked: Json[] = []
    const { see, session, facts } = await openDispute({
      onContradiction: async (first, second) => {
        asked.push({ first, second })
        await Promise.resolve()
        return first.text === thirty ? 'first' : 'second'
      },
    })
    await see(thirty)
    await see(sixty)
    await session()
    expect(inShort(await facts())).toEqual([`${thirty}: active`, `${sixty}: superseded`])
    expect(asked).toEqual([
      {
        first: {
          text: thirty,
          category: 'insight',
          confidence: 0.7,
          statedBy: [{ kind: 'program' }],
          branch: 'main',
          taskId: null,
          agentId: null,
          sessionId: 's1',
          createdAt: expect.any(Number),
        },
        second: expect.objectContaining({ text: sixty, confidence: 0.7 }) as object,
      },
    ])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('I was not listening'))],
    ['answers something else', () => 'both' as never],
    ['answers nothing', () => undefined as never],
  ])('S2-101 a judge that %s causes an error naming the option, with nothing changed', async (_title, judge) => {
    const { see, session, tables } = await openDispute({ onContradiction: judge })
    await see(thirty)
    await see(sixty)
    const before = await tables()
    const refusal = await refusalOf(session(), 'EXECUTION_ERROR')
    expect(refusal.details).toMatchObject({ option: 'memory.onContradiction' })
    expect(await tables()).toEqual(before)
  })
})

describe('A function that finds contradictions', () => {
  const odd = 'the scheduler prefers odd task numbers always'
  const even = 'the scheduler prefers even task numbers always'

  it('the function contradicts is called for facts that their words do not distinguish', async () => {
    const asked: string[][] = []
    const { see, session, facts, decided } = await openDispute({
      threshold: 0.7,
      contradicts: async (there, incoming) => {
        asked.push([there.text, incoming.text])
        return Promise.resolve(there.text !== incoming.text)
      },
    })
    await see(odd)
    await see(even)
    await session()
    expect(inShort(await facts())).toEqual([`${odd}: active, disputed`, `${even}: active, disputed`])
    expect(asked).toEqual([[odd, even]])
    expect((await decided((await facts())[0]?.['id'] as string)).at(-1)).toMatchObject({ note: 'keep-both: function' })
  })

  it('facts that the function contradicts accepts are alike as before', async () => {
    const { see, session, known } = await openDispute({ threshold: 0.7, contradicts: () => false })
    await see(odd)
    await see(even)
    await session()
    expect(await known()).toEqual([`0.8 ${odd}`])
  })

  it('a function contradicts that returns no boolean causes an error with nothing changed', async () => {
    const { see, session, tables } = await openDispute({ threshold: 0.7, contradicts: () => 'yes' as never })
    await see(odd)
    await see(even)
    const before = await tables()
    const refusal = await refusalOf(session(), 'EXECUTION_ERROR')
    expect(refusal.details).toMatchObject({ option: 'memory.contradicts' })
    expect(await tables()).toEqual(before)
  })
})
