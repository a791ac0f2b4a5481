// The tasks that a user names on the command line: by path (`collect/lines`), or by the local name where only one has
// it.
import { ErrandError, nearestName } from '../../errors.ts'
import { didYouMean } from './did-you-mean.ts'
import type { Plan, PlanTask } from './plan.ts'

/** @throws ErrandError NOT_FOUND { name, nearest } or INVALID_INPUT { name, candidates }. */
export function planTask(plan: Plan, name: string): PlanTask {
  const exact = plan.byPath.get(name)
  if (exact !== undefined) return exact
  const all = [...plan.byPath.values()]
  const candidates = all.filter((task) => task.name === name)
  const [only, second] = candidates
  if (only !== undefined && second === undefined) return only
  if (only !== undefined) {
    const paths = candidates.map((task) => task.path)
    throw new ErrandError(
      'INVALID_INPUT',
      `"${name}" is the name of several tasks of the plan. Name one of: ${paths.join(', ')}.`,
      {
        name,
        candidates: paths,
      },
    )
  }
  const nearest = nearestName(name, [...plan.byPath.keys(), ...all.map((task) => task.name)])
  throw new ErrandError(
    'NOT_FOUND',
    `The plan has no task "${name}".${didYouMean(nearest)} It has: ${[...plan.byPath.keys()].join(', ')}.`,
    { name, nearest },
  )
}
