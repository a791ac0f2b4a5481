// Which of many facts may be alike at all, found by the words that they share, the rarest first, so that not all are compared with all.
// The same as the ledger's index does for one branch, for facts of several.
import { subjectOf } from '../entities/disagreement.ts'
import { probeCount, wordsOf } from '../entities/fact-words.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { MemorySettings } from './memory-settings.ts'

type Pair = readonly [FactRecord, FactRecord]

/** Each pair once, the earlier fact first: all that are alike by the measure in force, and all that are about one subject. */
export function possiblePairs(settings: MemorySettings, facts: readonly FactRecord[]): Pair[] {
  const comparesAll =
    settings.similarity === 'embeddings' || (typeof settings.similarity === 'function' && settings.candidates === 'all')
  if (comparesAll) return facts.flatMap((a, at) => facts.slice(at + 1).map((b): Pair => [a, b]))
  return pairsByWords(facts, settings.similarity === 'jaccard' ? settings.threshold : 0)
}

function pairsByWords(facts: readonly FactRecord[], threshold: number): Pair[] {
  const words = facts.map(({ text }) => wordsOf(text))
  const counts = new Map<string, number>()
  for (const word of words.flat()) counts.set(word, (counts.get(word) ?? 0) + 1)
  const rarestFirst = (a: string, b: string): number =>
    (counts.get(a) as number) - (counts.get(b) as number) || (a < b ? -1 : 1)
  const met = new Map<string, number[]>()
  const pairs: Pair[] = []
  for (const [at, fact] of facts.entries()) {
    const own = (words[at] as string[]).toSorted(rarestFirst)
    // In one order for all, two that are alike share a word among the first ones of both.
    const probes = own.slice(0, probeCount(own.length, threshold)).map((word) => `word ${word}`)
    const subject = subjectOf(fact.text)
    if (subject !== '') probes.push(`subject ${subject}`)
    const others = new Set(probes.flatMap((probe) => met.get(probe) ?? []))
    for (const other of others) pairs.push([facts[other] as FactRecord, fact])
    for (const probe of probes) {
      const known = met.get(probe)
      if (known === undefined) met.set(probe, [at])
      else known.push(at)
    }
  }
  return pairs
}
