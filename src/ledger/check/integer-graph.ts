// A directed graph of numbered nodes with its cycles. It holds sixteen bytes for each edge, so that the open dependencies of a million tasks
// fit in memory.

export class IntegerGraph {
  readonly #from: number[] = []
  readonly #to: number[] = []

  add(from: number, to: number): void {
    this.#from.push(from)
    this.#to.push(to)
  }

  /** The nodes on cycles, and on paths from one cycle to another, in rising order. */
  cyclic(): number[] {
    const nodes = distinct(this.#from, this.#to)
    const [from, to] = [this.#from, this.#to].map((ends) => Int32Array.from(ends, (node) => indexIn(nodes, node)))
    const left = new Uint8Array(nodes.length).fill(1)
    peel(from as Int32Array, to as Int32Array, left)
    peel(to as Int32Array, from as Int32Array, left)
    return [...nodes].filter((_node, index) => left[index] === 1)
  }
}

/** Takes away the nodes from which no edge leads to a node that is left, again and again. */
function peel(from: Int32Array, to: Int32Array, left: Uint8Array): void {
  const isLeft = (edge: number): boolean => left[from[edge] as number] === 1 && left[to[edge] as number] === 1
  const edges = Int32Array.from(from.keys()).filter(isLeft)
  const leading = new Int32Array(left.length)
  for (const edge of edges) (leading[from[edge] as number] as number)++
  edges.sort((one, other) => (to[one] as number) - (to[other] as number))
  const firstTo = new Int32Array(left.length + 1)
  for (const edge of edges) (firstTo[(to[edge] as number) + 1] as number)++
  for (let node = 0; node < left.length; node++)
    firstTo[node + 1] = (firstTo[node + 1] as number) + (firstTo[node] as number)
  const ends = Int32Array.from(left.keys()).filter((node) => left[node] === 1 && leading[node] === 0)
  const queue = new Int32Array(left.length)
  queue.set(ends)
  for (let at = 0, length = ends.length; at < length; at++) {
    const end = queue[at] as number
    left[end] = 0
    for (let index = firstTo[end] as number; index < (firstTo[end + 1] as number); index++) {
      const before = from[edges[index] as number] as number
      if (--(leading[before] as number) === 0) queue[length++] = before
    }
  }
}

function distinct(...lists: readonly number[][]): Float64Array {
  const sorted = Float64Array.from(lists.flat()).sort()
  return sorted.filter((node, index) => index === 0 || node !== sorted[index - 1])
}

function indexIn(sorted: Float64Array, node: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < node) low = middle + 1
    else high = middle
  }
  return low
}
