// Groups alike facts. A fact joins a group if it is alike to one member, but no group holds two facts that contradict each other, because
// merging would lose one of them.
import { subjectOf } from '../entities/disagreement.ts'
import { probeCount, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import { groupsOf } from '../machines/fact-groups.ts'
import type { Deliberation } from './deliberate.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface AlikePair {
  a: string
  b: string
  likeness: number
}

/** Groups of two or more, ordered by their first member. `clashes` is called only for members of one group. */
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

/** Joins the most alike pairs first; a fact that would add a contradiction stays out. */
function split(
  group: readonly string[],
  pairs: readonly AlikePair[],
  clashes: (a: string, b: string) => boolean,
): string[][] {
  const scope = new Map(group.map((id, at) => [id, at]))
  const rank = ({ a, b }: AlikePair): number => Math.min(scope.get(a) as number, scope.get(b) as number)
  const setOf = new Map(group.map((id) => [id, [id]]))
  for (const { a, b } of pairs.toSorted((x, y) => y.likeness - x.likeness || rank(x) - rank(y))) {
    const [setA, setB] = [setOf.get(a) as string[], setOf.get(b) as string[]]
    if (setA === setB || setA.some((one) => setB.some((other) => clashes(one, other)))) continue
    for (const id of setB) {
      setA.push(id)
      setOf.set(id, setA)
    }
  }
  const sets = [...new Set(setOf.values())].filter((set) => set.length > 1)
  return sets.map((set) => set.toSorted((x, y) => (scope.get(x) as number) - (scope.get(y) as number)))
}

/**
 * Returns the facts among `others` that are alike to `fact`, directly or by a chain of others. When only some members of a group can be
 * merged into a fact, this leaves out those that only the remaining members connect with it.
 */
export function alikeByChain(d: Deliberation, fact: FactRecord, others: readonly FactRecord[]): Set<FactRecord> {
  const found = new Set<FactRecord>()
  const open = [fact]
  for (let known = open.pop(); known !== undefined; known = open.pop()) {
    for (const other of others) {
      if (found.has(other) || !d.isAlike(known.text, other.text)) continue
      found.add(other)
      open.push(other)
    }
  }
  return found
}

/** The same key for a pair in either order. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

type Pair = readonly [FactRecord, FactRecord]

/**
 * Returns the pairs of facts that may be alike, found by shared words, the rarest first, to avoid comparing all pairs: what the ledger's
 * index does within one branch, for facts of several. Includes all pairs that are alike under the current measure and all with the same
 * subject, each pair once, the earlier fact first.
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
  const seen = new Map<string, number[]>()
  const pairs: Pair[] = []
  for (const [at, fact] of facts.entries()) {
    const own = (words[at] as string[]).toSorted(rarestFirst)
    // With one order for all facts, two alike facts share a word among the first ones of both.
    const probes = own.slice(0, probeCount(own.length, threshold)).map((word) => `word ${word}`)
    const subject = subjectOf(fact.text)
    if (subject !== '') probes.push(`subject ${subject}`)
    const others = new Set(probes.flatMap((probe) => seen.get(probe) ?? []))
    for (const other of others) pairs.push([facts[other] as FactRecord, fact])
    for (const probe of probes) {
      const known = seen.get(probe)
      if (known === undefined) seen.set(probe, [at])
      else known.push(at)
    }
  }
  return pairs
}
