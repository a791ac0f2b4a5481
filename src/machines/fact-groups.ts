// Which facts say the same, and which of them stays: likeness is found pair by pair, and whoever is like one of a group belongs
// to all of it.

/**
 * The groups of two or more that the pairs make of the ids: a union-find with path compression. Groups come in the order of
 * their first member, members in the order of `ids`, whatever the order of the pairs. A pair with an id that is not listed
 * joins nobody.
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

/** Everyone on the way is linked to the root, so that nobody goes that way twice. */
function rootOf(id: string, parents: Map<string, string>): string {
  const way: string[] = []
  let root = id
  for (let parent = parents.get(root) as string; parent !== root; parent = parents.get(root) as string) {
    way.push(root)
    root = parent
  }
  for (const passed of way) parents.set(passed, root)
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
 * The fact of a group, which has at least one, that stands for all: the surest; among equals none that another of them says more than;
 * among these the newest.
 */
export function survivorOf<T extends Survivor>(facts: readonly T[], saysLess: (a: T, b: T) => boolean): T {
  const surest = facts.reduce((most, { confidence }) => Math.max(most, confidence), 0)
  const equals = facts.filter(({ confidence }) => confidence === surest)
  const fullest = equals.filter((fact) => !equals.some((other) => saysLess(fact, other)))
  return fullest.reduce((newest, fact) => (isNewer(fact, newest) ? fact : newest))
}

function isNewer(a: Survivor, b: Survivor): boolean {
  return (a.createdAt - b.createdAt || a.seq - b.seq) > 0
}
