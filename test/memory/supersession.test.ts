// Which fact supersedes which: a vaguer fact never supersedes a disputed or more specific one, in any order and by any policy.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readingOf, saysLess } from '../../src/entities/disagreement.ts'
import { runs } from '../tier.ts'
import { openMemory } from './world.ts'

const vague =
  'requests from the mobile clients to the billing service in the northern region time out behind their proxy after some while during busy hours'
const thirty = `${vague}: 30 seconds`
const sixty = `${vague}: 60 seconds`
const weekdays = `${thirty}, weekdays`
const all = [vague, thirty, sixty, weekdays]

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [first, ...rest]))
}

interface StatedFact {
  text: string
  confidence: number
}

/** An agent's facts, stated in this order, after the agent level. */
async function stated(given: readonly StatedFact[], onContradiction: 'keep-both' | 'newest' | 'highest-confidence') {
  const { call, team, facts, engine } = await openMemory({ memory: { onContradiction } })
  const { taskId, on } = await team('Bill', 'ada')
  const place = { taskId, agentId: 'ada' }
  for (const { text, confidence } of given) await call('mem:remember', { text, confidence, ...place })
  await call('mem:consolidate', { level: 'agent', ...place })
  const found = (await facts(on('ada'))).filter(({ category }) => category !== 'summary')
  await engine.close()
  return found as Array<{ id: string; text: string; status: string; successorId?: string; disputed?: true }>
}

const activeOf = (facts: Awaited<ReturnType<typeof stated>>): string[] =>
  facts.filter(({ status }) => status === 'active').map(({ text }) => text)

function vaguerSuccessors(facts: Awaited<ReturnType<typeof stated>>): string[] {
  const texts = new Map(facts.map(({ id, text }) => [id, text]))
  return facts.flatMap(({ text, successorId }) => {
    const successor = texts.get(successorId ?? '')
    return successor !== undefined && saysLess(readingOf(successor), readingOf(text)) ? [`${successor} ← ${text}`] : []
  })
}

describe('A text says less than another', () => {
  it.each([
    [vague, thirty],
    [thirty, weekdays],
    ['The cache is cleared', 'The cache is not cleared on restart'],
    ['It takes a long time', 'It takes 5s'],
  ])("a text says less if its words and numbers are part of the other's: “%s” and “%s”", (less, more) => {
    expect([saysLess(readingOf(less), readingOf(more)), saysLess(readingOf(more), readingOf(less))]).toEqual([
      true,
      false,
    ])
  })

  it.each([
    [thirty, sixty],
    ['the cache is warm', 'a cache was warm'],
    ['bread needs rye', 'trees lose leaves'],
  ])('neither text says less if both have something of their own or are equal: “%s” and “%s”', (a, b) => {
    expect([saysLess(readingOf(a), readingOf(b)), saysLess(readingOf(b), readingOf(a))]).toEqual([false, false])
  })
})

describe('A vaguer fact', () => {
  it.each(ordersOf(all).map((order) => [order.map((text) => all.indexOf(text)).join(' '), order] as const))(
    'V-05 a vaguer fact is superseded by a more specific one, and disputed facts stay: stated in the order %s',
    async (_name, order) => {
      const facts = await stated(
        order.map((text) => ({ text, confidence: 0.7 })),
        'keep-both',
      )
      expect(activeOf(facts).toSorted()).toEqual([weekdays, sixty].toSorted())
      expect(facts.filter(({ status }) => status === 'active').every(({ disputed }) => disputed)).toBe(true)
    },
  )

  it('V-05 a vaguer fact supersedes neither a disputed nor a more specific one, with any confidence and policy', async () => {
    const sure = fc.integer({ min: 0, max: 4 }).map((quarter) => quarter / 4)
    const story = fc.record({
      shown: fc
        .tuple(fc.shuffledSubarray(all, { minLength: 4 }), fc.array(sure, { minLength: 4, maxLength: 4 }))
        .map(([texts, sures]) => texts.map((text, at) => ({ text, confidence: sures[at] as number }))),
      policy: fc.constantFrom('keep-both' as const, 'newest' as const, 'highest-confidence' as const),
    })
    await fc.assert(
      fc.asyncProperty(story, async ({ shown, policy }) => {
        const facts = await stated(shown, policy)
        expect(vaguerSuccessors(facts)).toEqual([])
        if (policy === 'keep-both') expect(activeOf(facts)).toEqual(expect.arrayContaining([weekdays, sixty]))
      }),
      { numRuns: runs(8, 40) },
    )
  })

  it.each(ordersOf([vague, thirty, sixty]).map((order) => [order.map((text) => all.indexOf(text)).join(' '), order]))(
    'V-05 a vaguer fact does not absorb the numbers of an observed one: in the order %s',
    async (_name, order) => {
      const { see, session, team, call, facts } = await openMemory()
      const { taskId, on } = await team('Bill', 'ada')
      const place = { taskId, agentId: 'ada' }
      for (const [at, text] of order.entries()) {
        await see(text, { sessionId: `s${at}`, ...place })
        await session(`s${at}`)
      }
      await call('mem:consolidate', { level: 'agent', ...place })
      const found = (await facts(on('ada'))).filter(({ category }) => category !== 'summary')
      expect(activeOf(found as never).toSorted()).toEqual([thirty, sixty].toSorted())
    },
  )

  it('V-05 a vaguer fact on main does not absorb a merged one with numbers', async () => {
    const { call, team, known } = await openMemory()
    const { branch } = await team('Bill')
    await call('mem:remember', { text: vague, confidence: 1 })
    await call('mem:remember', { text: thirty, branch })
    await call('mem:merge', { branch })
    expect(await known()).toEqual([`1 ${vague}`, `0.7 ${thirty}`])
  })

  it('S2-022 S2-074 a fact is not superseded by one with which only a fact that stays connects it', async () => {
    const { call, team, known } = await openMemory({ memory: { threshold: 0.6 } })
    const { taskId, on } = await team('Bill', 'ada')
    const place = { taskId, agentId: 'ada' }
    await call('mem:remember', { text: 'cache token retry limit proxy not', confidence: 0.9, ...place })
    await call('mem:remember', { text: 'token queue retry limit not', confidence: 0.8, ...place })
    await call('mem:remember', { text: 'token queue retry limit proxy not 10s', confidence: 0.7, ...place })
    await call('mem:consolidate', { level: 'agent', ...place })
    expect(await known(on('ada'))).toEqual([
      '0.9 cache token retry limit proxy not',
      '0.8 token queue retry limit not',
      '0.7 token queue retry limit proxy not 10s',
    ])
  })
})
