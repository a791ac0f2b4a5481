// The dependency graph, as pure functions: topological order, and the tasks that block the most others.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { criticalBlockers, type GraphNode, topologicalOrder } from '../../src/machines/task-graph.ts'

function node(id: string, blockedBy: string[] = [], more: Partial<GraphNode> = {}): GraphNode {
  return { id, priority: 0, seq: 0, blockedBy, ...more }
}

describe('an order', () => {
  it('S4-049 topologicalOrder puts each task after its dependencies, and unblocked tasks by priority, then age', () => {
    const nodes = [
      node('last', ['left', 'right'], { seq: 1, priority: 99 }),
      node('right', ['top'], { seq: 2 }),
      node('left', ['top'], { seq: 3, priority: 1 }),
      node('alone', [], { seq: 4, priority: -1 }),
      node('top', [], { seq: 5 }),
    ]
    expect(topologicalOrder(nodes)).toEqual(['top', 'left', 'right', 'last', 'alone'])
  })

  it('topologicalOrder ignores unknown ids, and omits tasks in a cycle', () => {
    expect(topologicalOrder([node('a', ['gone'])])).toEqual(['a'])
    expect(topologicalOrder([node('a', ['b']), node('b', ['a']), node('c')])).toEqual(['c'])
    expect(topologicalOrder([])).toEqual([])
  })

  it('topologicalOrder passes joints at once in any priority, and omits them', () => {
    const nodes = [
      node('in group', [], { seq: 2 }),
      node('group', ['in group'], { seq: 1, priority: -9, joint: true }),
      node('after', ['group'], { seq: 3, priority: 5 }),
      node('other', [], { seq: 4, priority: -1 }),
    ]
    expect(topologicalOrder(nodes)).toEqual(['in group', 'after', 'other'])
  })

  it('topologicalOrder keeps every edge and every rank in any acyclic graph', () => {
    const graphs = fc.integer({ min: 0, max: 40 }).chain((size) =>
      fc.tuple(
        ...Array.from({ length: size }, (_, at) =>
          fc.record({
            priority: fc.integer({ min: -2, max: 2 }),
            after: fc.subarray(Array.from({ length: at }, (_each, before) => `t${before}`)),
          }),
        ),
      ),
    )
    fc.assert(
      fc.property(graphs, (drawn) => {
        const nodes = drawn.map(({ priority, after }, at) => node(`t${at}`, after, { priority, seq: at }))
        const byId = new Map(nodes.map((each) => [each.id, each]))
        const order = topologicalOrder(nodes.toReversed())
        expect(order).toHaveLength(nodes.length)
        const done = new Set<string>()
        for (const id of order) {
          const chosen = byId.get(id) as GraphNode
          const free = nodes.filter((each) => !done.has(each.id) && each.blockedBy.every((before) => done.has(before)))
          expect(free).toContain(chosen)
          const better = free.filter(
            (each) => each.priority > chosen.priority || (each.priority === chosen.priority && each.seq < chosen.seq),
          )
          expect(better).toEqual([])
          done.add(id)
        }
      }),
    )
  })
})

describe('critical blockers', () => {
  it('S4-049 criticalBlockers lists unblocked tasks with the number of their dependents, highest first', () => {
    const nodes = [
      node('top', [], { seq: 1 }),
      node('left', ['top'], { seq: 2 }),
      node('right', ['top'], { seq: 3 }),
      node('bottom', ['left', 'right', 'second'], { seq: 4 }),
      node('second', [], { seq: 5 }),
      node('third', [], { seq: 6, priority: 1 }),
      node('after third', ['third'], { seq: 7 }),
      node('alone', [], { seq: 8 }),
    ]
    expect(criticalBlockers(nodes)).toEqual([
      { id: 'top', holdsUp: 3 },
      { id: 'third', holdsUp: 1 },
      { id: 'second', holdsUp: 1 },
    ])
  })

  it('criticalBlockers neither lists nor counts joints', () => {
    const nodes = [
      node('a'),
      node('group', ['a'], { joint: true }),
      node('after', ['group']),
      node('empty', [], { joint: true }),
      node('after empty', ['empty']),
    ]
    expect(criticalBlockers(nodes)).toEqual([{ id: 'a', holdsUp: 1 }])
    expect(criticalBlockers([node('a'), node('group', ['a'], { joint: true })])).toEqual([])
  })
})
