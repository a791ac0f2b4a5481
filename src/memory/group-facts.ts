// Groups alike facts. A fact joins a group if it is alike to one member, but no group holds two facts that contradict each other, because
// merging would lose one of them.
import { subjectOf } from '../entities/disagreement.ts'
import { probeCount, wordsOf } from '../entities/fact-tokens.ts'
import type { FactRecord } from '../entities/memory.ts'
import type { Op } from '../ledger/ledger.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface AlikePair {
  a: string
  b: string
  likeness: number
}

/** Whether two facts contradict each other. */
type Clashes = (a: string, b: string) => Op<boolean>

/** Groups of two or more, ordered by their first member. `clashes` is called only for members of one group. */
export function* groupAlike(ids: readonly string[], pairs: readonly AlikePair[], clashes: Clashes): Op<string[][]> {
  const groups = groupsOf(
    ids,
    pairs.map(({ a, b }) => [a, b]),
  )
  const memberOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)))
  const pairsOf = Map.groupBy(pairs, ({ a }) => memberOf.get(a))
  const found: string[][] = []
  for (const group of groups) {
    const parts = (yield* hasClash(group, clashes)) ? yield* split(group, pairsOf.get(group) ?? [], clashes) : [group]
    for (const part of parts) found.push(part)
  }
  return found
}

function* hasClash(group: readonly string[], clashes: Clashes): Op<boolean> {
  for (const [at, id] of group.entries()) if (yield* areApart([id], group.slice(at + 1), clashes)) return true
  return false
}

/** Whether a fact of one group contradicts one of the other. */
function* areApart(group: readonly string[], other: readonly string[], clashes: Clashes): Op<boolean> {
  for (const a of group) for (const b of other) if (yield* clashes(a, b)) return true
  return false
}

/** Joins the most alike pairs first; a fact that would add a contradiction stays out. */
function* split(group: readonly string[], pairs: readonly AlikePair[], clashes: Clashes): Op<string[][]> {
  const scope = new Map(group.map((id, at) => [id, at]))
  const rank = ({ a, b }: AlikePair): number => Math.min(scope.get(a) as number, scope.get(b) as number)
  const setOf = new Map(group.map((id) => [id, [id]]))
  for (const { a, b } of pairs.toSorted((x, y) => y.likeness - x.likeness || rank(x) - rank(y))) {
    const [setA, setB] = [setOf.get(a) as string[], setOf.get(b) as string[]]
    if (setA === setB || (yield* areApart(setA, setB, clashes))) continue
    for (const id of setB) {
      setA.push(id)
      setOf.set(id, setA)
    }
  }
  const sets = [...new Set(setOf.values())].filter((set) => set.length > 1)
  return sets.map((set) => set.toSorted((x, y) => (scope.get(x) as number) - (scope.get(y) as number)))
}

export interface Covered {
  survivor: FactRecord
  /** The facts for which the survivor can stand. */
  covered: FactRecord[]
}

/**
 * Splits a group of alike facts into survivors and what each of them covers. A survivor covers facts to which a chain of facts that it covers
 * leads; those that are connected with it only through other facts are left to the next survivor.
 */
export function splitBySurvivor(
  group: readonly FactRecord[],
  pairs: readonly AlikePair[],
  { saysLess, covers }: Record<'saysLess' | 'covers', (a: FactRecord, b: FactRecord) => boolean>,
): Covered[] {
  const neighbours = neighboursIn(group, pairs)
  const found: Covered[] = []
  for (let left = group; left.length > 0; ) {
    const survivor = survivorOf(left, saysLess)
    const open = new Map(left.filter((fact) => covers(survivor, fact)).map((fact) => [fact.id, fact]))
    open.delete(survivor.id)
    const covered: FactRecord[] = []
    const passed = [survivor]
    for (let fact = passed.pop(); fact !== undefined; fact = passed.pop()) {
      for (const id of neighbours.get(fact.id) ?? []) {
        const next = open.get(id)
        if (next === undefined) continue
        open.delete(id)
        covered.push(next)
        passed.push(next)
      }
    }
    found.push({ survivor, covered })
    const done = new Set([survivor, ...covered])
    left = left.filter((fact) => !done.has(fact))
  }
  return found
}

function neighboursIn(group: readonly FactRecord[], pairs: readonly AlikePair[]): Map<string, string[]> {
  const neighbours = new Map(group.map(({ id }) => [id, [] as string[]]))
  for (const { a, b } of pairs) {
    neighbours.get(a)?.push(b)
    neighbours.get(b)?.push(a)
  }
  return neighbours
}

/** The same key for a pair in either order. */
export function pairKey(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

export type Pair = readonly [FactRecord, FactRecord]

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

// Groups of duplicate facts, and which fact of a group is kept. Similarity is found pair by pair; a fact that is similar to one
// member belongs to the group.

/**
 * The groups of two or more that the pairs make of the ids: a union-find with path compression. Groups come in the order of
 * their first member, members in the order of `ids`, for any order of the pairs. A pair with an id that is not listed
 * is ignored.
 *
 * @example
 * groupsOf(['a', 'b', 'c', 'd'], [['c', 'd'], ['a', 'd']]) // [['a', 'c', 'd']]
 */
export function groupsOf(ids: readonly string[], pairs: Iterable<readonly [string, string]>): string[][] {
  const parents = new Map(ids.map((id) => [id, id]))
  const ranks = new Map([...parents.keys()].map((id, rank) => [id, rank]))
  for (const [a, b] of pairs) {
    if (!parents.has(a) || !parents.has(b)) continue
    const [rootA, rootB] = [rootOf(a, parents), rootOf(b, parents)]
    const aIsFirst = (ranks.get(rootA) as number) < (ranks.get(rootB) as number)
    // The first listed is the root, so that groups come out in the order of their first member.
    if (aIsFirst) parents.set(rootB, rootA)
    else parents.set(rootA, rootB)
  }
  const groups = Map.groupBy(parents.keys(), (id) => rootOf(id, parents))
  return [...groups.values()].filter((group) => group.length > 1)
}

/** Path compression: every node on the path is linked to the root. */
function rootOf(id: string, parents: Map<string, string>): string {
  const path: string[] = []
  let root = id
  for (let parent = parents.get(root) as string; parent !== root; parent = parents.get(root) as string) {
    path.push(root)
    root = parent
  }
  for (const passed of path) parents.set(passed, root)
  return root
}

interface Survivor {
  id: string
  /** In hundredths. */
  confidence: number
  /** Epoch ms. */
  createdAt: number
  /** The order of facts that were created in the same millisecond. */
  seq: number
}

/**
 * The fact of a non-empty group that is kept: the one with the highest confidence; among equals one that no other is more specific
 * than; among these the newest.
 */
export function survivorOf<T extends Survivor>(facts: readonly T[], saysLess: (a: T, b: T) => boolean): T {
  const highest = facts.reduce((max, { confidence }) => Math.max(max, confidence), 0)
  const equals = facts.filter(({ confidence }) => confidence === highest)
  const fullest = equals.filter((fact) => !equals.some((other) => saysLess(fact, other)))
  return fullest.reduce((newest, fact) => (isNewer(fact, newest) ? fact : newest))
}

function isNewer(a: Survivor, b: Survivor): boolean {
  return (a.createdAt - b.createdAt || a.seq - b.seq) > 0
}
