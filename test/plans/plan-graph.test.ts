// The order of a plan: cycles, blockers first, the tasks that a target needs, the last tasks.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findCycle, inOrder, lastOf, neededBy, type Plan } from '../../src/plans/plan.ts'
import { planOf } from '../surfaces/cli/plan-text.ts'

const nested = planOf(`
tasks:
  last: { run: x, after: [group, other] }
  group:
    after: first
    tasks:
      b: { run: x, after: a }
      a: { run: x }
  first: { run: x }
  other: { run: x }
  alone: { run: x }
`)

const needs = (plan: Plan, ...paths: string[]) => {
  const targets = paths.map((path) => plan.byPath.get(path) as NonNullable<ReturnType<Plan['byPath']['get']>>)
  return [...neededBy(targets, plan.byPath)].sort()
}

describe('the order of a plan', () => {
  it('the order of a plan puts tasks after their blockers, groups by their tasks, and otherwise as in the file', () => {
    expect(inOrder(nested.tasks).map((task) => task.path)).toEqual([
      'first',
      'group/a',
      'group/b',
      'other',
      'last',
      'alone',
    ])
  })

  it('a target of a plan needs all that it comes after, through groups, and nothing else', () => {
    expect(needs(nested, 'last')).toEqual(['first', 'group/a', 'group/b', 'last', 'other'])
    expect(needs(nested, 'group/a')).toEqual(['first', 'group/a'])
    expect(needs(nested, 'group')).toEqual(['first', 'group/a', 'group/b'])
    expect(needs(nested, 'alone', 'first')).toEqual(['alone', 'first'])
  })

  it('the graph of a plan knows the last tasks, which no other comes after', () => {
    expect(lastOf(nested.tasks).map((task) => task.path)).toEqual(['last', 'alone'])
    expect(
      lastOf(planOf('tasks: { g: { tasks: { a: { run: x }, b: { run: x, after: a } } } }').tasks).map(
        (task) => task.path,
      ),
    ).toEqual(['g/b'])
  })

  it('the graph of a plan finds a cycle exactly when there is one, and returns one that exists', () => {
    const graph = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(graph, (edges) => {
        const level = edges.map((after, index) => ({
          path: `t${index}`,
          after: after.filter((other) => other < edges.length).map((other) => `t${other}`),
        }))
        const cycle = findCycle(level)
        if (cycle === undefined) expect(canBeSorted(level)).toBe(true)
        else {
          expect(cycle[0]).toBe(cycle.at(-1))
          for (const [index, path] of cycle.slice(1).entries()) {
            expect(level.find((task) => task.path === path)?.after).toContain(cycle[index])
          }
        }
      }),
    )
  })
})

function canBeSorted(level: Array<{ path: string; after: string[] }>): boolean {
  const placed = new Set<string>()
  for (let round = 0; round < level.length; round++) {
    for (const task of level) if (task.after.every((blocker) => placed.has(blocker))) placed.add(task.path)
  }
  return placed.size === level.length
}
