// The dependency graph, as pure functions: topological order, the tasks that block the most others, and cycles.
import { ErrandError } from '../core/errors.ts'

export interface GraphNode {
  id: string
  priority: number
  seq: number
  /** Its open dependencies. Ids that are not in the graph are ignored. */
  blockedBy: readonly string[]
  /** A node without work that only joins edges (a group, the end of a parent's children). Not listed and not counted. */
  joint?: boolean
}

/** Every task after its dependencies; tasks that could start at the same time by priority, then age. */
export function topologicalOrder(nodes: readonly GraphNode[]): string[] {
  const { left, dependents, byId } = linked(nodes)
  const free = new Heap(nodes.filter((node) => left.get(node.id) === 0))
  const order: string[] = []
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    if (!node.joint) order.push(node.id)
    for (const id of dependents.get(node.id) ?? []) {
      const open = (left.get(id) as number) - 1
      left.set(id, open)
      if (open === 0) free.push(byId.get(id) as GraphNode)
    }
  }
  return order
}

/**
 * The unblocked tasks that block others, with the number of their direct and indirect dependents, highest first.
 */
export function criticalBlockers(nodes: readonly GraphNode[]): Array<{ id: string; holdsUp: number }> {
  const { dependents, left } = linked(nodes)
  const places = new Map(nodes.map(({ id }, place) => [id, place]))
  const after = nodes.map(({ id }) => (dependents.get(id) ?? []).map((dependent) => places.get(dependent) as number))
  /** The start from which each node was reached last; cheaper than a set for each of thousands of starts. */
  const reachedFrom = new Int32Array(nodes.length).fill(-1)
  const found: Array<{ id: string; holdsUp: number; priority: number; seq: number }> = []
  for (const [start, { id, priority, seq, joint }] of nodes.entries()) {
    if (joint || left.get(id) !== 0) continue
    let holdsUp = 0
    const queue = [...(after[start] as number[])]
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (reachedFrom[next] === start) continue
      reachedFrom[next] = start
      if (!nodes[next]?.joint) holdsUp++
      for (const dependent of after[next] as number[]) if (reachedFrom[dependent] !== start) queue.push(dependent)
    }
    if (holdsUp > 0) found.push({ id, holdsUp, priority, seq })
  }
  return found
    .sort((a, b) => b.holdsUp - a.holdsUp || b.priority - a.priority || a.seq - b.seq)
    .map(({ id, holdsUp }) => ({ id, holdsUp }))
}

/**
 * A path along dependencies from a node back to itself; undefined when there is none. Each edge is visited once. Uses its own stack
 * instead of recursion, because a chain may have thousands of nodes.
 */
export function cycleIn(
  names: Iterable<string>,
  comesAfter: (name: string) => readonly string[],
): string[] | undefined {
  const done = new Set<string>()
  /** The nodes from the start to the present one. */
  const path = new Set<string>()
  for (const start of names) {
    const rest = [{ name: start, leaving: false }]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const { name, leaving } = next
      if (leaving) {
        path.delete(name)
        done.add(name)
      } else if (path.has(name)) {
        const round = [...path]
        return [...round.slice(round.indexOf(name)), name]
      } else if (!done.has(name)) {
        path.add(name)
        rest.push({ name, leaving: true })
        for (const blocker of comesAfter(name).toReversed()) rest.push({ name: blocker, leaving: false })
      }
    }
  }
  return undefined
}

export function cycleError(what: string, path: readonly string[]): ErrandError {
  return new ErrandError('CYCLE', `${what}: the dependencies form a cycle (${path.join(' → ')}). Remove one of them.`, {
    path: [...path],
  })
}

function linked(nodes: readonly GraphNode[]) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const dependents = new Map<string, string[]>()
  const left = new Map<string, number>()
  for (const { id, blockedBy } of nodes) {
    const inside = blockedBy.filter((blocker) => byId.has(blocker))
    left.set(id, inside.length)
    for (const blocker of inside) {
      const list = dependents.get(blocker)
      if (list) list.push(id)
      else dependents.set(blocker, [id])
    }
  }
  return { byId, dependents, left }
}

/** A binary heap of unblocked nodes: the highest priority first, then the oldest. */
class Heap {
  readonly #nodes: GraphNode[] = []

  constructor(nodes: readonly GraphNode[]) {
    for (const node of nodes) this.push(node)
  }

  push(node: GraphNode): void {
    const nodes = this.#nodes
    let at = nodes.push(node) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(nodes[at] as GraphNode, nodes[above] as GraphNode)) return
      swap(nodes, at, above)
      at = above
    }
  }

  pop(): GraphNode | undefined {
    const nodes = this.#nodes
    const best = nodes[0]
    const last = nodes.pop()
    if (best === undefined || last === undefined || nodes.length === 0) return best
    nodes[0] = last
    for (let at = 0; ; ) {
      let next = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < nodes.length && isBefore(nodes[child] as GraphNode, nodes[next] as GraphNode)) next = child
      }
      if (next === at) return best
      swap(nodes, at, next)
      at = next
    }
  }
}

function isBefore(a: GraphNode, b: GraphNode): boolean {
  if (a.joint !== b.joint && (a.joint || b.joint)) return a.joint === true
  return a.priority > b.priority || (a.priority === b.priority && a.seq < b.seq)
}

function swap(nodes: GraphNode[], a: number, b: number): void {
  const kept = nodes[a] as GraphNode
  nodes[a] = nodes[b] as GraphNode
  nodes[b] = kept
}
