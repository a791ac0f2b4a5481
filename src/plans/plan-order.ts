// Checks the order of a plan: `after` names siblings that exist, no tasks wait for each other, and results have distinct names.
import { didYouMean } from '../core/did-you-mean.ts'
import { type ErrandError, nearestName } from '../core/errors.ts'
import { resultVariable } from '../executors/command-environment.ts'
import { findCycle, type PlanTask } from './plan.ts'
import { type Complaints, complaintsOf } from './plan-complaints.ts'
import type { PlanPath, PlanSource } from './plan-source.ts'

/** @param at the level's place in the file. */
export function checkAfter(source: PlanSource, level: PlanTask[], at: PlanPath): void {
  const byPath = new Map(level.map((task) => [task.path, task]))
  for (const task of level) {
    const missing = task.after.findIndex((blocker) => !byPath.has(blocker))
    if (missing !== -1) throw missingBlocker(complaintsOf(source, task.path, [...at, task.name]), task, missing, level)
  }
  const cycle = findCycle(level)
  if (cycle === undefined) return
  const { name } = byPath.get(cycle[0] as string) as PlanTask
  throw source.error([...at, name, 'after'], `These tasks wait for each other: ${cycle.join(' → ')}`, {
    details: { cycle },
  })
}

/** Names that a message lists; of more it says how many there are. */
const maxListed = 30

function listed(names: readonly string[]): string {
  return names.length > maxListed
    ? `${names.slice(0, maxListed).join(', ')}, … (${names.length} in all)`
    : names.join(', ')
}

function missingBlocker(wrong: Complaints, task: PlanTask, index: number, level: PlanTask[]): ErrandError {
  const name = (task.after[index] as string).slice(task.parent === null ? 0 : task.parent.length + 1)
  const siblings = level.filter((other) => other !== task).map((other) => other.name)
  const nearest = nearestName(name, siblings)
  const group = level.find((other) => other.children.some((child) => child.name === name))
  const where = task.parent === null ? 'at the top of the plan' : `in the group "${task.parent}"`
  const help =
    group === undefined
      ? `${didYouMean(nearest)}${siblings.length === 0 ? '' : ` It may come after: ${listed(siblings)}`}`
      : ` "${name}" stands inside the group "${group.name}": come after that`
  return wrong.value(['after', index], `comes after "${name}", but there is no such task ${where}.${help}`, {
    task: task.path,
    missing: name,
    nearest,
  })
}

/** A command gets the result of each task that it comes after in a variable of its name: two must not have the same one. */
export function checkResultNames(source: PlanSource, task: PlanTask, byPath: ReadonlyMap<string, PlanTask>): void {
  if (task.spec.executor !== 'shell') return
  const owners = new Map<string, string>()
  for (const path of task.comesAfter) {
    const { name = '' } = (byPath.get(path) as PlanTask).spec
    // No character of such a name is left in the name of the variable.
    if (/\P{ASCII}/u.test(name) && !/[A-Za-z]/.test(name)) continue
    const variable = resultVariable(name)
    const owner = owners.get(variable)
    if (owner !== undefined) {
      const at = task.path.split('/').flatMap((step) => ['tasks', step])
      throw complaintsOf(source, task.path, at).value(
        ['after'],
        `comes after "${owner}" and "${path}", and the results of both would be its $${variable}. Give one of them another name`,
        { task: task.path, variable, candidates: [owner, path] },
      )
    }
    owners.set(variable, path)
  }
}
