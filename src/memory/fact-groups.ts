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

export interface Survivor {
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
