// Siblings that come after each other, by the names that they have among themselves: each must exist, and no cycle may come of it.

import type { ChildSpec } from '../api/options.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import { cycleError, cycleIn } from '../machines/task-graph.ts'

export function siblingsOf(child: Pick<ChildSpec, 'after'>): string[] {
  return child.after === undefined ? [] : Array.isArray(child.after) ? child.after : [child.after]
}

export function refuseSiblingCycle(children: Record<string, ChildSpec>, where: string): void {
  const cycle = cycleIn(Object.keys(children), (local) => {
    const siblings = siblingsOf(children[local] as ChildSpec)
    for (const sibling of siblings.toReversed()) requireSibling(sibling, local, children, where)
    return siblings
  })
  if (cycle !== undefined) throw cycleError(`"${cycle[0]}" in "${where}" cannot come after itself`, cycle)
}

function requireSibling(sibling: string, local: string, children: Record<string, ChildSpec>, where: string): void {
  if (Object.hasOwn(children, sibling)) return
  const siblings = Object.keys(children)
  const nearest = nearestName(sibling, siblings)
  throw new ErrandError(
    'NOT_FOUND',
    `"${local}" in "${where}" comes after "${sibling}", which is not among its siblings.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
    { name: local, after: sibling, nearest, siblings },
  )
}
