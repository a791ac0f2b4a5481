// The scaling of memory: consolidating a session of 100 observations, and retrieving 5 facts, on a branch of 1,000 to 100,000
// facts. Both times should stay nearly constant.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type Engine } from '../src/index.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { factRow } from '../src/testing/factories.ts'

const sizes = (process.env.BENCH_FACTS ?? '1000,10000,100000').split(',').map(Number)
const sessions = 20
const observationsEach = 100
const queries = 500
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
async function fill(path: string, texts: readonly string[]): Promise<void> {
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

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number

async function timed(times: number, work: (turn: number) => Promise<void>): Promise<number[]> {
  const taken: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const from = performance.now()
    await work(turn)
    taken.push(performance.now() - from)
  }
  return taken.sort((a, b) => a - b)
}

async function observe(engine: Engine, sessionId: string, contents: readonly string[]): Promise<void> {
  await Promise.all(contents.map((content) => engine.bus.call('mem:observe', { sessionId, type: 'insight', content })))
}

async function measure(size: number): Promise<{ session: number; retrieval: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const path = join(folder, 'memory.db')
    const chance = createChance(42)
    const speaker = createSpeaker(chance)
    const texts = Array.from({ length: size }, () => speaker.sentence())
    const known = (): string => texts[Math.floor(chance() * size)] as string
    await fill(path, texts)
    const bytes = statSync(path).size / size
    const engine = await createEngine({ ledger: path, work: false })
    const seen: string[][] = Array.from({ length: sessions }, () =>
      Array.from({ length: observationsEach }, (_, n) => (n % knownEvery === 0 ? known() : speaker.sentence())),
    )
    for (const [number, contents] of seen.entries()) await observe(engine, `session-${number}`, contents)
    let boosted = 0
    const consolidated = await timed(sessions, async (number) => {
      const { factsUpdated } = await engine.bus.call('mem:consolidate', {
        level: 'session',
        sessionId: `session-${number}`,
      })
      boosted += factsUpdated
    })
    const asked = Array.from({ length: queries }, () =>
      [...known().split(' ').slice(0, 3), speaker.word(), speaker.word()].join(' '),
    )
    let found = 0
    const retrieved = await timed(queries, async (turn) => {
      const { chunks } = await engine.bus.call('mem:retrieve', { query: asked[turn] as string, limit: 5 })
      found += chunks.length
    })
    await engine.close()
    const [session, retrieval] = [quantile(consolidated, 0.5), quantile(retrieved, 0.99)]
    console.log(
      `  ${size.toLocaleString('en').padStart(7)} facts (${bytes.toFixed(0)} bytes each): session of ${observationsEach} ${session.toFixed(1)} ms median, ${quantile(consolidated, 0.95).toFixed(1)} p95 (${boosted} boosted); retrieval of 5 ${quantile(retrieved, 0.5).toFixed(2)} ms median, ${retrieval.toFixed(2)} p99 (${(found / queries).toFixed(1)} found)`,
    )
    return { session, retrieval }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function memory(): Promise<void> {
  console.log('memory: one branch, synchronous=FULL')
  const results: Array<{ session: number; retrieval: number }> = []
  for (const size of sizes) results.push(await measure(size))
  const [first, last] = [results[0], results.at(-1)]
  if (first === undefined || last === undefined || first === last) return
  console.log(
    `  growth from ${sizes[0]} to ${sizes.at(-1)} facts: session × ${(last.session / first.session).toFixed(2)}, retrieval p99 × ${(last.retrieval / first.retrieval).toFixed(2)}`,
  )
}

if (import.meta.main) await memory()
