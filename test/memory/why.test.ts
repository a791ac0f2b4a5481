// The relations of a fact: shown on either side, and found by any unique prefix of its id.
import { describe, expect, it } from 'vitest'
import { createSequentialIds } from '../../src/testing/sequential-ids.ts'
import { refusalOf } from '../engine/world.ts'
import { modelOf } from '../operations/world.ts'
import { type Json, openMemory, sentence } from './world.ts'

const thirty = 'requests to the billing service time out after 30 seconds'
const sixty = 'requests to the billing service time out after 60 seconds'

/** `kind of the other` for each decision that names the fact. */
const mentioned = ({ mentions }: Json) =>
  (mentions as Json[]).map(({ kind, factId }) => [kind as string, factId as string])

describe('Decisions that name a fact', () => {
  it('S2-104 Q-11 mem:why shows a contradiction with its ground on both facts that stay', async () => {
    const { see, call, session, facts } = await openMemory()
    for (const text of [thirty, sixty]) await see(text)
    await session()
    const [newer, older] = await facts()
    const [whyNewer, whyOlder] = [
      await call('mem:why', { factId: newer?.['id'] }),
      await call('mem:why', { factId: older?.['id'] }),
    ]
    const shown = { note: 'keep-both: numbers', type: 'session_end', trigger: 'ability' }
    expect(whyNewer['decisions']).toContainEqual(
      expect.objectContaining({ kind: 'contradicted', otherId: older?.['id'], ...shown }),
    )
    expect(whyNewer['mentions']).toEqual([])
    expect(whyNewer['others']).toEqual([older])
    expect(whyOlder['decisions']).toMatchObject([{ kind: 'created' }])
    expect(whyOlder['mentions']).toMatchObject([{ kind: 'contradicted', factId: newer?.['id'], ...shown }])
    expect((whyOlder['mentions'] as Json[])[0]).not.toHaveProperty('otherId')
    expect(whyOlder['others']).toEqual([newer])
  })

  it.each([
    ['newest', sixty],
    ['highest-confidence', thirty],
  ] as const)('Q-11 mem:why of the fact that wins by “%s” shows the superseded one', async (onContradiction, holds) => {
    const { see, call, session, facts } = await openMemory({ memory: { onContradiction } })
    for (const text of [thirty, thirty, sixty]) await see(text)
    await session()
    const [winner] = await facts('main', { status: 'active' })
    const [loser] = await facts('main', { status: 'superseded' })
    expect(winner?.['text']).toBe(holds)
    const why = await call('mem:why', { factId: winner?.['id'] })
    expect(mentioned(why)).toEqual([['settled', loser?.['id']]])
    expect((why['mentions'] as Json[])[0]?.['note']).toBe(`${onContradiction}: numbers`)
    expect(why['others']).toEqual([loser])
  })

  it('S2-075 S2-076 S2-105 mem:why shows what a fact superseded, where it was merged, and its later summaries', async () => {
    const { call, team, facts } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada')
    const ada = { taskId, agentId: 'ada' }
    const { factId: superseded } = await call('mem:remember', { text: sentence, ...ada, confidence: 0.5 })
    const { factId: survivor } = await call('mem:remember', { text: sentence, ...ada })
    await call('mem:consolidate', { level: 'agent', ...ada })
    const [firstSummary] = await facts(on('ada'), { category: 'summary' })
    await call('mem:remember', { text: 'the cache is cold in the morning', ...ada })
    await call('mem:consolidate', { level: 'agent', ...ada })
    const [secondSummary] = await facts(on('ada'), { category: 'summary', status: 'active' })
    await call('mem:merge', { branch: on('ada') })
    const copies = await facts(branch)
    const copy = copies.find(({ originId }) => originId === survivor)
    const why = await call('mem:why', { factId: survivor })
    expect(mentioned(why)).toEqual([
      ['superseded', superseded],
      ['carried', copy?.['id']],
    ])
    expect((why['others'] as Json[]).map(({ id }) => id as string)).toEqual([superseded, copy?.['id']])
    expect(mentioned(await call('mem:why', { factId: firstSummary?.['id'] }))).toEqual([
      ['summarized', secondSummary?.['id']],
    ])
    expect(mentioned(await call('mem:why', { factId: copy?.['id'] }))).toEqual([])
  })

  it('mem:why is limited to the latest five hundred decisions about a fact, and says so', async () => {
    const { engine, call, see } = await openMemory()
    await see(sentence)
    const said = { sessionId: 's1', type: 'insight', content: sentence } as const
    await Promise.all(Array.from({ length: 500 }, () => engine.mem.observe(said)))
    await call('mem:consolidate', { level: 'session', sessionId: 's1' })
    const { facts } = await call('mem:facts', {})
    const { decisions, moreDecisions, observations } = await call('mem:why', { factId: (facts as Json[])[0]?.['id'] })
    expect(moreDecisions).toBe(true)
    const kinds = (decisions as Json[]).map(({ kind }) => kind as string)
    expect([kinds.length, kinds[0], kinds.at(-1)]).toEqual([500, 'boosted', 'confirmed'])
    // Its origin is always shown.
    expect((observations as Json[])[0]).toMatchObject({ content: sentence })
    expect(observations).toHaveLength(501)
  })

  it('mem:why is limited to the latest hundred decisions that name a fact, and says so', async () => {
    const { call, team, facts } = await openMemory()
    const { taskId, on } = await team('Fix Auth', 'ada')
    const ada = { taskId, agentId: 'ada' }
    for (let n = 0; n < 101; n++) await call('mem:remember', { text: sentence, ...ada, confidence: 0.5 })
    const { factId } = await call('mem:remember', { text: sentence, ...ada })
    await call('mem:consolidate', { level: 'agent', ...ada })
    const why = await call('mem:why', { factId })
    expect(why).toMatchObject({ moreMentions: true, decisions: [] })
    // The superseded facts are listed by age; the first of them is left out.
    const losers = (await facts(on('ada'), { status: 'superseded' })).map(({ id }) => id as string).reverse()
    expect(losers).toHaveLength(101)
    expect(mentioned(why)).toEqual(losers.slice(1).map((id) => ['superseded', id]))
    expect((why['others'] as Json[]).map(({ id }) => id as string)).toEqual(losers.slice(1))
    expect(await call('mem:why', { factId: losers[0] })).not.toHaveProperty('moreMentions')
  })
})

describe('A fact', () => {
  it('mem:why accepts an id or any unique prefix of it, with or without “fact-”', async () => {
    const { call } = await openMemory()
    const { factId } = (await call('mem:remember', { text: sentence })) as { factId: string }
    for (const ref of [factId, factId.slice(0, 9), factId.slice('fact-'.length), factId.slice(5, 9), 'fact-'])
      expect((await call('mem:why', { factId: ref }))['fact']).toMatchObject({ id: factId })
    for (const ref of ['fact-%', 'FACT-', "'", factId.slice(1), `${factId}a`]) {
      const { details } = await refusalOf(call('mem:why', { factId: ref }), 'NOT_FOUND')
      expect(details).toMatchObject({ factId: ref })
    }
  })

  it('mem:why names the matches of an ambiguous prefix; a full id is unambiguous', async () => {
    const { call } = await openMemory({ ids: createSequentialIds() })
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push((await call('mem:remember', { text: `fact ${n}` }))['factId'] as string)
    const whole = ids.find((id) => ids.some((other) => other !== id && other.startsWith(id))) as string
    for (const ref of [whole, whole.slice('fact-'.length)])
      expect((await call('mem:why', { factId: ref }))['fact']).toMatchObject({ id: whole })
    const { details, message } = await refusalOf(call('mem:why', { factId: 'fact-' }), 'INVALID_INPUT')
    expect(details).toMatchObject({ factId: 'fact-', candidates: ids.toSorted().slice(0, 10) })
    expect(message).toContain(' and others. ')
  })

  it('S2-016 X-037 a prefix does not match facts that the caller may not read', async () => {
    const { call, engine, as, team } = await openMemory({ ids: createSequentialIds() })
    const { branch } = await team('Fix Auth')
    const { id } = await engine.create({ name: 'alone' })
    const alone = as(modelOf(id))
    const { factId: hidden } = await call('mem:remember', { text: sentence, branch })
    await refusalOf(alone('mem:why', { factId: hidden }), 'FORBIDDEN')
    const { details } = await refusalOf(alone('mem:why', { factId: 'fact-' }), 'NOT_FOUND')
    expect(details).not.toHaveProperty('candidates')
    const { factId: known } = await call('mem:remember', { text: sentence })
    expect((await alone('mem:why', { factId: 'fact-' }))['fact']).toMatchObject({ id: known })
    await refusalOf(call('mem:why', { factId: 'fact-' }), 'INVALID_INPUT')
  })

  it('S2-016 mem:why hides facts that a task may not read, also where a decision names them', async () => {
    const { call, engine, as, team } = await openMemory({ memory: { onContradiction: 'newest' } })
    const { branch } = await team('Fix Auth')
    const { id } = await engine.create({ name: 'alone' })
    const { factId } = await call('mem:remember', { text: thirty, branch })
    await call('mem:merge', { branch })
    const { facts } = await call('mem:facts', {})
    const [copy] = facts as Json[]
    const why = await as(modelOf(id))('mem:why', { factId: copy?.['id'] })
    expect(why).toMatchObject({ sources: [], others: [], mentions: [] })
    expect(mentioned(await call('mem:why', { factId }))).toEqual([['carried', copy?.['id']]])
  })
})

describe('Branches', () => {
  it('mem:branches counts the active facts of each branch on request, without summaries and superseded ones', async () => {
    const { call, team } = await openMemory()
    const { taskId, branch, on } = await team('Fix Auth', 'ada')
    const ada = { taskId, agentId: 'ada' }
    for (const text of [sentence, sentence, thirty]) await call('mem:remember', { text, ...ada })
    await call('mem:consolidate', { level: 'agent', ...ada })
    await call('mem:remember', { text: thirty })
    const { branches } = await call('mem:branches', { counts: true })
    expect((branches as Json[]).map(({ name, facts }) => [name as string, facts as number])).toEqual([
      ['main', 1],
      [branch, 0],
      [on('ada'), 2],
    ])
    const page = await call('mem:branches', { counts: true, limit: 1, after: 2 })
    expect(page['branches']).toMatchObject([{ name: on('ada'), facts: 2 }])
    const uncounted = await call('mem:branches', {})
    for (const each of uncounted['branches'] as Json[]) expect(each).not.toHaveProperty('facts')
  })
})
