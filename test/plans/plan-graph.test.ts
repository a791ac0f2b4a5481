// The order of a plan: cycles, what comes first, what a target needs, what a plan is for.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
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
  test('places each task after what it comes after, groups by the tasks in them, and follows the file otherwise', () => {
    expect(inOrder(nested.tasks).map((task) => task.path)).toEqual([
      'first',
      'group/a',
      'group/b',
      'other',
      'last',
      'alone',
    ])
  })

  test('needs for a target all that it comes after, through groups, and nothing else', () => {
    expect(needs(nested, 'last')).toEqual(['first', 'group/a', 'group/b', 'last', 'other'])
    expect(needs(nested, 'group/a')).toEqual(['first', 'group/a'])
    expect(needs(nested, 'group')).toEqual(['first', 'group/a', 'group/b'])
    expect(needs(nested, 'alone', 'first')).toEqual(['alone', 'first'])
  })

  test('ends with the tasks that no other comes after', () => {
    expect(lastOf(nested.tasks).map((task) => task.path)).toEqual(['last', 'alone'])
    expect(
      lastOf(planOf('tasks: { g: { tasks: { a: { run: x }, b: { run: x, after: a } } } }').tasks).map(
        (task) => task.path,
      ),
    ).toEqual(['g/b'])
  })

  test('finds a cycle exactly when there is one, and names one that exists', () => {
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
