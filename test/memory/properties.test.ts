// Properties of consolidation for any observations in any order: nothing is lost, nothing is counted twice, and repeating it changes
// nothing. Planted faults, known from other systems, must be detected.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MemoryOptions } from '../../src/engine/engine-api.ts'
import { likeness, wordsOf } from '../../src/entities/fact-tokens.ts'
import type { FactRecord } from '../../src/entities/memory.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { runs } from '../tier.ts'
import { complaints } from './invariants.ts'
import { listing, openMemory, replacing, tablesOf, tampered, withoutRuns } from './world.ts'

const threshold = 0.6

/** Few words, so that many texts are alike; numbers and negations, so that some of these contradict each other. */
const vocabulary = 'cache token queue login server retry limit proxy'.split(' ')
const texts = fc
  .tuple(
    fc.subarray(vocabulary, { minLength: 2, maxLength: 6 }),
    fc.constantFrom('', '', '', ' 10s', ' 20s'),
    fc.constantFrom('', '', ' not'),
  )
  .map(([words, number, negation]) => `${words.join(' ')}${negation}${number}`)

const agents = ['ada', 'bob', null] as const
type Act =
  | { do: 'see'; task: number; agent: (typeof agents)[number]; session: string; type: string; text: string }
  | { do: 'remember'; task: number; agent: (typeof agents)[number]; text: string; confidence: number }
  | { do: 'session'; session: string }
  | { do: 'agent'; task: number; agent: 'ada' | 'bob' }
  | { do: 'merge'; task: number; agent: 'ada' | 'bob' | null; only: 'all' | 'durable' }
  | { do: 'task'; task: number }
  | { do: 'project' }

const task = fc.nat(1)
const who = fc.constantFrom('ada' as const, 'bob' as const)
const session = fc.constantFrom('s1', 's2', 's3')
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('see' as const),
      task,
      agent: fc.constantFrom(...agents),
      session,
      type: fc.constantFrom('insight', 'insight', 'decision', 'discovery', 'error'),
      text: texts,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('remember' as const),
      task,
      agent: fc.constantFrom(...agents),
      text: texts,
      confidence: fc.nat(100).map((hundredths) => hundredths / 100),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('session' as const), session }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('agent' as const), task, agent: who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('merge' as const),
      task,
      agent: fc.constantFrom('ada' as const, 'bob' as const, null),
      only: fc.constantFrom('all' as const, 'durable' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('task' as const), task }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('project' as const) }) },
)

interface Story {
  acts: Act[]
  options?: MemoryOptions
  wrap?: (ledger: Ledger) => Ledger
}

/** Consolidates every level once, so that nothing is left to do. */
const rest: Act[] = [
  ...['s1', 's2', 's3'].map((each): Act => ({ do: 'session', session: each })),
  ...[0, 1].flatMap((each): Act[] => [
    { do: 'agent', task: each, agent: 'ada' },
    { do: 'agent', task: each, agent: 'bob' },
    { do: 'merge', task: each, agent: 'ada', only: 'all' },
    { do: 'merge', task: each, agent: 'bob', only: 'all' },
    { do: 'task', task: each },
    { do: 'merge', task: each, agent: null, only: 'durable' },
  ]),
  { do: 'project' },
]

async function play({ acts: story, options = {}, wrap }: Story) {
  const ledger = await openLedger(':memory:')
  const memory = await openMemory({ ledger, memory: { threshold, ...options } }, wrap)
  const teams = [await memory.team('One', 'ada', 'bob'), await memory.team('Two', 'ada', 'bob')]
  const perform = async (act: Act): Promise<void> => {
    const team = teams['task' in act ? act.task : 0] as (typeof teams)[number]
    const { taskId } = team
    const agentId = 'agent' in act && act.agent !== null ? { agentId: act.agent } : {}
    if (act.do === 'see') {
      const { session: sessionId, type, text: content } = act
      await memory.call('mem:observe', { sessionId, type, content, taskId, ...agentId })
    } else if (act.do === 'remember') {
      await memory.call('mem:remember', { text: act.text, confidence: act.confidence, taskId, ...agentId })
    } else if (act.do === 'merge') {
      const branch = act.agent === null ? team.branch : team.on(act.agent)
      await memory.call('mem:merge', { branch, only: act.only })
    } else if (act.do === 'session') {
      await memory.call('mem:consolidate', { level: 'session', sessionId: act.session })
    } else
      await memory.call('mem:consolidate', { level: act.do, ...(act.do === 'project' ? {} : { taskId }), ...agentId })
  }
  for (const act of story) await perform(act)
  const end = async () => {
    await memory.engine.close()
    await ledger.close()
  }
  return { perform, tables: () => tablesOf(ledger), end }
}

/** Violations after a sequence of operations, after consolidating everything, and after repeating that. */
async function faultsOf(story: Story): Promise<string[]> {
  const { perform, tables, end } = await play(story)
  const found = complaints(await tables(), threshold)
  for (const act of rest) await perform(act)
  const once = await tables()
  found.push(...complaints(once, threshold))
  for (const act of rest) await perform(act)
  const twice = await tables()
  if (JSON.stringify(withoutRuns(once)) !== JSON.stringify(withoutRuns(twice)))
    found.push('doing it again changed something')
  await end()
  return found
}

/** Found by random input: on main, one fact was taken for another with which only a fact that had stayed behind connected it. */
const chainThroughAFactLeftBehind: Act[] = [
  { do: 'see', task: 0, agent: 'ada', session: 's1', type: 'decision', text: 'token queue retry limit proxy not 10s' },
  { do: 'remember', task: 0, agent: 'ada', text: 'cache token retry limit proxy not', confidence: 0.8 },
  { do: 'remember', task: 0, agent: 'ada', text: 'token queue retry limit not', confidence: 0 },
  { do: 'remember', task: 0, agent: 'ada', text: 'queue proxy', confidence: 0 },
  { do: 'see', task: 0, agent: 'ada', session: 's1', type: 'insight', text: 'login proxy' },
  { do: 'merge', task: 0, agent: 'ada', only: 'all' },
  { do: 'see', task: 0, agent: 'ada', session: 's1', type: 'insight', text: 'login limit' },
  { do: 'see', task: 0, agent: 'ada', session: 's1', type: 'insight', text: 'retry limit' },
]

/** A contradiction that words do not show. */
function areOfDifferentServers(there: { text: string }, incoming: { text: string }): boolean {
  const [a, b] = [there, incoming].map(({ text }) => ['login', 'proxy'].filter((server) => text.includes(server)))
  return a?.length === 1 && b?.length === 1 && a[0] !== b[0]
}

const stories = fc.array(acts, { minLength: 5, maxLength: 40 })

describe('Consolidation of any observations in any order', () => {
  it.each(['keep-both', 'highest-confidence', 'newest'] as const)(
    'S2-022 S2-070 S2-079 consolidation loses nothing, inflates nothing, and repeated changes nothing (%s)',
    async (onContradiction) => {
      await fc.assert(
        fc.asyncProperty(stories, async (story) => {
          expect(await faultsOf({ acts: story, options: { onContradiction } })).toEqual([])
        }),
        { numRuns: runs(5, 40), examples: [[chainThroughAFactLeftBehind]] },
      )
    },
    120_000,
  )

  const judge: MemoryOptions['onContradiction'] = (first, second) => (first.text < second.text ? 'first' : 'keep-both')
  const similarity = async (a: string, b: string) => Promise.resolve(likeness(wordsOf(a), wordsOf(b)))
  it.each<[string, MemoryOptions]>([
    ['a function and a judge', { similarity, onContradiction: judge }],
    ['a function for facts with common words', { similarity, candidates: 'words', onContradiction: judge }],
    ['a function that finds contradictions', { contradicts: areOfDifferentServers, onContradiction: judge }],
    ['all functions', { similarity, contradicts: areOfDifferentServers, onContradiction: judge }],
  ])(
    'S2-103 consolidation with %s loses nothing, repeated changes nothing, and runs one transaction each time',
    async (_title, options) => {
      await fc.assert(
        fc.asyncProperty(fc.array(acts, { minLength: 5, maxLength: 20 }), async (story) => {
          const ran: string[] = []
          expect(await faultsOf({ acts: story, options, wrap: (ledger) => listing(ledger, ran) })).toEqual([])
          const due = [...story, ...rest, ...rest].filter((act) => act.do !== 'see' && act.do !== 'remember')
          expect(ran.filter((step) => /^(?:consolidate|merge)/.test(step))).toHaveLength(due.length)
        }),
        { numRuns: runs(3, 15) },
      )
    },
    120_000,
  )

  it('the order of sessions changes neither facts nor confidences', async () => {
    // Texts that belong together have the same words, so that no text connects two groups.
    const subjects = ['alpha beta gamma delta', 'one two three four', 'red green blue grey']
    const said = fc.record({
      subject: fc.constantFrom(...subjects),
      sign: fc.constantFrom('', '.', '!', '?'),
      session: fc.constantFrom('s1', 's2', 's3', 's4'),
    })
    const orders = fc.shuffledSubarray(['s1', 's2', 's3', 's4'], { minLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 12 }), orders, async (observations, order) => {
        const learned = async (sessions: readonly string[]) => {
          const story = observations.map(({ subject, sign, session: each }): Act => {
            return { do: 'see', task: 0, agent: 'ada', session: each, type: 'insight', text: `${subject}${sign}` }
          })
          const { perform, tables, end } = await play({ acts: story })
          for (const each of sessions) await perform({ do: 'session', session: each })
          const { facts } = await tables()
          await end()
          return facts.map(({ text, confidence }) => `${confidence} ${wordsOf(text).join(' ')}`).sort()
        }
        expect(await learned(order)).toEqual(await learned(['s1', 's2', 's3', 's4']))
      }),
      { numRuns: runs(3, 15) },
    )
  }, 120_000)
})

/** The first violation caused by a planted fault over some sequences. */
async function caught(plant: Omit<Story, 'acts'>): Promise<string | undefined> {
  for (const story of fc.sample(stories, { numRuns: 25, seed: 7 })) {
    const found = await faultsOf({ acts: story, ...plant }).catch((error: unknown) => [String(error)])
    if (found.length > 0) return found[0]
  }
  return undefined
}

/** A ledger that stores facts incorrectly. */
const onSave = (write: (fact: FactRecord) => FactRecord | undefined) => (ledger: Ledger) =>
  tampered(ledger, (tx) =>
    replacing(tx, 'fact', {
      *save(fact) {
        const written = write(fact)
        if (written !== undefined) yield* tx.fact.save(written)
      },
    }),
  )

describe('A planted fault is detected:', () => {
  it('the properties detect a session that does not consume its observations', async () => {
    const wrap = (ledger: Ledger) => tampered(ledger, (tx) => replacing(tx, 'observation', { *consume() {} }))
    // Waiting until nothing is pending would never end; sessions alone show it.
    const story: Act[] = [
      { do: 'see', task: 0, agent: 'ada', session: 's1', type: 'insight', text: 'cache token' },
      { do: 'session', session: 's1' },
      { do: 'session', session: 's1' },
    ]
    const { tables, end } = await play({ acts: story, wrap })
    const found = complaints(await tables(), threshold)
    await end()
    expect(found.join()).toContain('observationsProcessed')
  })

  it('the properties detect a duplicate whose boost is counted but not stored', async () => {
    const wrap = onSave((fact) => ({ ...fact, confidence: Math.min(fact.confidence, 70) }))
    expect(await caught({ wrap })).toMatch(/by the history at|was boosted from/)
  })

  it('the properties detect a merge that drops half alike facts', async () => {
    const similarity = (a: string, b: string) => (likeness(wordsOf(a), wordsOf(b)) > 0.3 ? 1 : 0)
    expect(await caught({ options: { similarity } })).toContain('was lost in')
  })

  it('the properties detect a survivor without the highest confidence', async () => {
    const isStated = ({ observationId, originId }: FactRecord) => observationId === null && originId === null
    const wrap = onSave((fact) => (fact.comparedBy !== null && isStated(fact) ? { ...fact, confidence: 0 } : fact))
    expect(await caught({ wrap })).toMatch(/no better|by the history|changed something/)
  })

  it('the properties detect a fact superseded in the history but not in the table', async () => {
    const wrap = onSave((fact) => (fact.status === 'superseded' && fact.category !== 'summary' ? undefined : fact))
    expect(await caught({ wrap })).toContain('was decided to give way and did not')
  })

  it('the properties detect a merge that forgets what it has merged', async () => {
    const wrap = onSave((fact) => ({ ...fact, mergedTo: null, mergedConfidence: null }))
    expect(await caught({ wrap })).toContain('doing it again changed something')
  })

  it('the properties detect a contradiction taken for a duplicate', async () => {
    const deaf = (fact: FactRecord) => ({ ...fact, text: fact.text.replace(/ not| \d+s/g, '') })
    const wrap = (ledger: Ledger) =>
      tampered(ledger, (tx) =>
        replacing(tx, 'fact', {
          *candidates(...given) {
            return (yield* tx.fact.candidates(...given)).map(deaf)
          },
          *sameSubject(...given) {
            return (yield* tx.fact.sameSubject(...given)).map(deaf)
          },
        }),
      )
    expect(await caught({ wrap })).toContain('was taken for')
  })
})
