// Which tasks of a plan are to run: from the names that the user gives to paths.
import { didYouMean } from '../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import { leavesOf, neededBy, type Plan, type PlanTask } from './plan.ts'
import type { RoundRequest } from './round.ts'

/**
 * The tasks that must run, and those that run again. Without `targets` all run that have no `autoStart: false`.
 * @throws ErrandError NOT_FOUND { name, nearest } or INVALID_INPUT { name, candidates }.
 */
export function roundRequest(
  plan: Plan,
  { targets = [], redo = [] }: { targets?: readonly string[] | undefined; redo?: readonly string[] | undefined },
): RoundRequest {
  const redone = redo.flatMap((name) => leavesOf(findTask(plan, name)))
  const wanted =
    targets.length > 0
      ? targets.map((name) => findTask(plan, name))
      : [...plan.byPath.values()].filter((task) => !task.group && task.autoStart)
  return { needed: neededBy([...wanted, ...redone], plan.byPath), redo: new Set(redone.map((task) => task.path)) }
}

/** A task by its path (`collect/lines`), or by a name that only one task has. */
function findTask({ byPath }: Plan, name: string): PlanTask {
  const exact = byPath.get(name)
  if (exact !== undefined) return exact
  const all = [...byPath.values()]
  const [only, ...others] = all.filter((task) => task.name === name)
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const candidates = [only, ...others].map((task) => task.path)
    const message = `"${name}" is the name of several tasks of the plan. Name one of: ${candidates.join(', ')}.`
    throw new ErrandError('INVALID_INPUT', message, { name, candidates })
  }
  const nearest = nearestName(name, [...byPath.keys(), ...all.map((task) => task.name)])
  throw new ErrandError(
    'NOT_FOUND',
    `The plan has no task "${name}".${didYouMean(nearest)} It has: ${[...byPath.keys()].join(', ')}.`,
    { name, nearest },
  )
}
