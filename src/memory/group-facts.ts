// Which facts say the same, where some of those that are alike contradict each other: whoever is like one of a group belongs to it,
// but no group holds two that contradict each other, for one of them would be lost in it.
import { subjectOf } from '../entities/disagreement.ts'
import { probeCount, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import { groupsOf } from '../machines/fact-groups.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface AlikePair {
  a: string
  b: string
  likeness: number
}

/** Groups of two or more, in the order of their first member. `clashes` is asked only about members of one group. */
export function groupAlike(
  ids: readonly string[],
  pairs: readonly AlikePair[],
  clashes: (a: string, b: string) => boolean,
): string[][] {
  const groups = groupsOf(
    ids,
    pairs.map(({ a, b }) => [a, b]),
  )
  const memberOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)))
  const pairsOf = Map.groupBy(pairs, ({ a }) => memberOf.get(a))
  return groups.flatMap((group) =>
    hasClash(group, clashes) ? split(group, pairsOf.get(group) ?? [], clashes) : [group],
  )
}

function hasClash(group: readonly string[], clashes: (a: string, b: string) => boolean): boolean {
  return group.some((a, at) => group.slice(at + 1).some((b) => clashes(a, b)))
}

/** The most alike find together first; who would bring a contradiction along stays out. */
function split(
  group: readonly string[],
  pairs: readonly AlikePair[],
  clashes: (a: string, b: string) => boolean,
): string[][] {
  const place = new Map(group.map((id, at) => [id, at]))
  const rank = ({ a, b }: AlikePair): number => Math.min(place.get(a) as number, place.get(b) as number)
  const setOf = new Map(group.map((id) => [id, [id]]))
  for (const { a, b } of pairs.toSorted((x, y) => y.likeness - x.likeness || rank(x) - rank(y))) {
    const [setA, setB] = [setOf.get(a) as string[], setOf.get(b) as string[]]
    if (setA === setB || setA.some((one) => setB.some((other) => clashes(one, other)))) continue
    setA.push(...setB)
    for (const id of setB) setOf.set(id, setA)
  }
  const sets = [...new Set(setOf.values())].filter((set) => set.length > 1)
  return sets.map((set) => set.toSorted((x, y) => (place.get(x) as number) - (place.get(y) as number)))
}

/** One name for a pair, whichever of the two comes first. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

type Pair = readonly [FactRecord, FactRecord]

/**
 * Which of many facts may be alike at all, found by the words that they share, the rarest first, so that not all are compared with all:
 * the same as the ledger's index does for one branch, for facts of several. Each pair once, the earlier fact first: all that are alike
 * by the measure in force, and all that are about one subject.
 */
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
