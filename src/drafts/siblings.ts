// Siblings that come after each other, by the names that they have among themselves: each must exist, and no cycle may come of it.
import { ErrandError, nearestName } from '../errors.ts'
import { cycleError } from '../machines/task-graph.ts'
import type { ChildSpec } from '../options.ts'

export function siblingsOf(child: Pick<ChildSpec, 'after'>): string[] {
  return child.after === undefined ? [] : Array.isArray(child.after) ? child.after : [child.after]
}

/** Each edge once and on a stack of its own: there may be thousands, each after the next. */
export function refuseSiblingCycle(children: Record<string, ChildSpec>, where: string): void {
  const done = new Set<string>()
  /** From where it began to where it stands. */
  const path = new Set<string>()
  for (const start of Object.keys(children)) {
    const rest = [{ local: start, leaving: false }]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const { local, leaving } = next
      if (leaving) {
        path.delete(local)
        done.add(local)
        continue
      }
      if (path.has(local)) {
        const round = [...path]
        throw cycleError(`"${local}" in "${where}" cannot come after itself`, [
          ...round.slice(round.indexOf(local)),
          local,
        ])
      }
      if (done.has(local)) continue
      path.add(local)
      rest.push({ local, leaving: true })
      for (const sibling of siblingsOf(children[local] as ChildSpec).toReversed()) {
        requireSibling(sibling, local, children, where)
        rest.push({ local: sibling, leaving: false })
      }
    }
  }
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
