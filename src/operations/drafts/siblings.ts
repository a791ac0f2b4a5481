// Checks the dependencies between siblings, given by local names: each name must exist, and they must not form a cycle.

import { ErrandError, nearestName } from '../../core/errors.ts'
import type { ChildSpec } from '../../entities/options.ts'
import { cycleError, cycleIn } from '../../machines/task-graph.ts'

export function siblingsOf(child: Pick<ChildSpec, 'after'>): string[] {
  return child.after === undefined ? [] : Array.isArray(child.after) ? child.after : [child.after]
}

export function refuseSiblingCycle(children: Record<string, ChildSpec>, where: string): void {
  const cycle = cycleIn(Object.keys(children), (local) => {
    const siblings = siblingsOf(children[local] as ChildSpec)
    for (const sibling of siblings.toReversed()) requireSibling(sibling, local, children, where)
    return siblings
  })
  if (cycle !== undefined) throw cycleError(`"${cycle[0]}" in "${where}" cannot depend on itself`, cycle)
}

function requireSibling(sibling: string, local: string, children: Record<string, ChildSpec>, where: string): void {
  if (Object.hasOwn(children, sibling)) return
  const siblings = Object.keys(children)
  const nearest = nearestName(sibling, siblings)
  throw new ErrandError(
    'NOT_FOUND',
    `"${local}" in "${where}" depends on "${sibling}", which is not one of its siblings.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
    { name: local, after: sibling, nearest, siblings },
  )
}
