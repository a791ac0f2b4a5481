// Which facts say the same, where some of those that are alike contradict each other: whoever is like one of a group belongs to it,
// but no group holds two that contradict each other, for one of them would be lost in it.
import { groupsOf } from '../machines/fact-groups.ts'

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
