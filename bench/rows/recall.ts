// The scaling of memory: consolidating a session of observations, and retrieving facts, on a branch of many facts. Both times should stay
// nearly constant.

import { join } from 'node:path'
import type { Engine } from 'errand'
import { factRow } from '../../test/ledger/factories.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow } from '../runner/row.ts'
import { quantile } from '../runner/statistics.ts'

interface Size {
  facts: readonly number[]
  sessions: number
  /** In each session. */
  observations: number
  queries: number
}

interface Given extends Omit<Size, 'facts'> {
  facts: number
}

const nameOf = (facts: number): string => `${facts.toLocaleString('en')} facts`
/** One in this many observations repeats a known fact. */
const knownEvery = 5

/** A generator with the same sequence in every run. */
function createChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Words with the distribution of a language: the n-th most frequent word is used about one n-th as often as the first. */
function createSpeaker(chance: () => number): { sentence(): string; word(): string } {
  const vocabulary = 20_000
  const harmonic = Math.log(vocabulary) + 0.577
  const syllables = [
    'ka',
    'lo',
    'mi',
    'ter',
    'sen',
    'du',
    'var',
    'pe',
    'ron',
    'shi',
    'gal',
    'no',
    'ble',
    'quo',
    'zu',
    'fex',
  ]
  const spelled = (rank: number): string => {
    let word = ''
    for (let rest = rank + 16; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16]
    return word
  }
  const word = (): string => spelled(Math.min(vocabulary, Math.floor(Math.exp(chance() * harmonic))))
  return { word, sentence: () => Array.from({ length: 8 + Math.floor(chance() * 13) }, word).join(' ') }
}

/** Writes the rows of a large branch directly. */
async function fill(packageRoot: string, path: string, texts: readonly string[]): Promise<void> {
  const { openLedger } = await loadEntry<typeof import('errand/testing')>(packageRoot, 'errand/testing')
  const ledger = await openLedger(path)
  for (let from = 0; from < texts.length; from += 1_000) {
    await ledger.step({
      name: 'fill',
      *decide(tx) {
        for (const [index, text] of texts.slice(from, from + 1_000).entries()) {
          yield* tx.fact.insert(
            factRow({ id: `fact-${from + index}`, text, comparedBy: 'jaccard > 0.85', createdAt: Date.now() }),
          )
        }
      },
    })
  }
  await ledger.close()
}

async function timed(times: number, work: (turn: number) => Promise<void>): Promise<number[]> {
  const taken: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const from = performance.now()
    await work(turn)
    taken.push(performance.now() - from)
  }
  return taken
}

async function observe(engine: Engine, sessionId: string, contents: readonly string[]): Promise<void> {
  await Promise.all(contents.map((content) => engine.bus.call('mem:observe', { sessionId, type: 'insight', content })))
}

export const recall = defineRow<Size, Given>({
  name: 'recall',
  title: 'Consolidation and recall',
  method:
    'One branch of memory. Sessions of a hundred observations are consolidated; a fifth of these repeat known facts. Then five facts ' +
    'are retrieved for words of a known one. The words have the distribution of a natural language.',
  figures: {
    session: { label: 'session p50', unit: 'ms', better: 'less' },
    retrieval: { label: 'recall p50', unit: 'ms', better: 'less' },
    retrieval99: { label: 'recall p99', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { facts: [1_000, 10_000, 100_000], sessions: 20, observations: 100, queries: 500 },
    quick: { facts: [1_000, 10_000], sessions: 5, observations: 100, queries: 100 },
    tiny: { facts: [20, 40], sessions: 1, observations: 10, queries: 3 },
  },
  rounds: { full: 1, quick: 1, tiny: 1 },
  cases: ({ facts, ...rest }) => facts.map((each) => ({ name: nameOf(each), given: { ...rest, facts: each } })),
  sides: {
    errand: {
      durability: floorDurability,
      async measure({ facts, sessions, observations, queries }, { errand, folder, packageRoot }) {
        const { createEngine } = await errand()
        const path = join(folder, 'memory.db')
        const chance = createChance(42)
        const speaker = createSpeaker(chance)
        const texts = Array.from({ length: facts }, () => speaker.sentence())
        const known = (): string => texts[Math.floor(chance() * facts)] as string
        await fill(packageRoot, path, texts)
        const engine = await createEngine({ ledger: path, work: false })
        for (let session = 0; session < sessions; session++) {
          const contents = Array.from({ length: observations }, (_, n) =>
            n % knownEvery === 0 ? known() : speaker.sentence(),
          )
          await observe(engine, `session-${session}`, contents)
        }
        let boosted = 0
        const consolidated = await timed(sessions, async (number) => {
          const sessionId = `session-${number}`
          boosted += (await engine.bus.call('mem:consolidate', { level: 'session', sessionId })).factsUpdated
        })
        const asked = Array.from({ length: queries }, () =>
          [...known().split(' ').slice(0, 3), speaker.word(), speaker.word()].join(' '),
        )
        let found = 0
        const retrieved = await timed(queries, async (turn) => {
          found += (await engine.bus.call('mem:retrieve', { query: asked[turn] as string, limit: 5 })).chunks.length
        })
        await engine.close()
        if (boosted === 0 || found === 0) throw new Error(`${boosted} facts were repeated, ${found} were found`)
        return {
          session: quantile(consolidated, 0.5),
          retrieval: quantile(retrieved, 0.5),
          retrieval99: quantile(retrieved, 0.99),
        }
      },
    },
  },
})
