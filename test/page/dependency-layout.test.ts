// The drawing of dependencies: columns where they fit, else a list.
import { expect, it } from 'vitest'
import { placeDependencies } from '../../page/src/model/dependency-layout.ts'

const dependencies = { before: ['a', 'b'], own: 'own', after: ['c'] }

it.each([
  [596, 3],
  [595, 2],
])('dependencies are drawn in columns if these fit into %i pixels, else in a list with %i indents', (width, places) => {
  const { nodes, nodeWidth, arrows, ...size } = placeDependencies(dependencies, width)
  expect(new Set([...nodes.values()].map(({ x }) => x)).size).toBe(places)
  expect([...arrows.keys()]).toEqual(['a', 'b', 'c'])
  expect(size.width).toBeLessThanOrEqual(width)
  for (const { x } of nodes.values()) expect(x + nodeWidth).toBeLessThanOrEqual(size.width)
})

it('dependencies of a page without a width are placed without negative sizes', () => {
  expect(placeDependencies(dependencies, 0).nodeWidth).toBe(0)
})
