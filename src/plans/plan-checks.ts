// What refuses a plan: keys that do not exist or do not go together, a task without work or with two kinds of it, `after` with names that do
// not exist or in a circle, results with one name. Each error names the part and its place in the file. plan-schema.ts says what a key takes.
import type { z } from 'zod'
import { fileVariable, resultVariable } from '../commands/index.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { type ErrandError, nearestName } from '../core/errors.ts'
import { innermostIssue } from '../core/explain-issue.ts'
import { safeParse } from '../core/parse.ts'
import { findCycle, type PlanTask } from './plan.ts'
import { planKeys, type RawPlanTask, refusedTaskKeys } from './plan-schema.ts'
import type { PlanPath, PlanSource } from './plan-source.ts'

/** Errors about a task, which point at a key below it or at the value of a key. `at` is the task's place in the file. */
export function complaintsOf(source: PlanSource, path: string, at: PlanPath) {
  const pointingAt =
    (what?: 'key') =>
    (keys: PlanPath, text: string, details?: Record<string, unknown>): ErrandError =>
      source.error([...at, ...keys], `The task "${path}" ${text}`, { at: what, details })
  return { key: pointingAt('key'), value: pointingAt() }
}
type Complaints = ReturnType<typeof complaintsOf>

/** Keys of makefiles and of CI services, and what a plan calls them. */
const keysElsewhere: Readonly<Record<string, string>> = {
  cmd: 'run',
  command: 'run',
  exec: 'run',
  script: 'run',
  needs: 'after',
  depends_on: 'after',
  dependsOn: 'after',
  requires: 'after',
  dir: 'cwd',
  environment: 'env',
  prompt: 'goal',
  steps: 'tasks',
  jobs: 'tasks',
}

function nearestKey(key: string, known: readonly string[]): string | undefined {
  const meant = Object.hasOwn(keysElsewhere, key) ? keysElsewhere[key] : undefined
  return meant !== undefined && known.includes(meant) ? meant : nearestName(key, known)
}

/** Parses a mapping of the plan. @throws ErrandError INVALID_PLAN for the first issue, with its place; the message names `owner`. */
export function parseMapping<T extends z.ZodType>(
  source: PlanSource,
  schema: T,
  value: unknown,
  at: PlanPath,
  what: 'plan' | 'task',
  owner: string,
): z.output<T> {
  const parsed = safeParse(schema, value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const issue = (issues.find((each) => each.code === 'unrecognized_keys') ??
    innermostIssue(issues[0] as z.core.$ZodIssue)) as z.core.$ZodIssue
  const inside = issue.path as Array<string | number>
  const part = inside.length === 0 ? owner : `${owner}: ${inside.join('.')}`
  if (issue.code === 'unrecognized_keys') {
    const place = inside.at(-1)
    const known: readonly string[] = planKeys[place === 'ask' || place === 'retry' ? place : what]
    const key = issue.keys[0] as string
    const nearest = nearestKey(key, known)
    throw source.error(
      [...at, ...inside, key],
      `${part} has no key "${key}".${didYouMean(nearest)} It takes: ${known.join(', ')}`,
      { at: 'key', details: { key, nearest } },
    )
  }
  if (inside.length === 0 && issue.code === 'invalid_type') {
    const example = what === 'plan' ? '{ tasks: { … } }' : '{ run: "make" }'
    throw source.error(at, `${owner} must be a mapping like ${example}, got ${kindOfValue(value)}`)
  }
  const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined
  throw source.error([...at, ...inside], `${part}: ${(inner ?? issue).message}`)
}

function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

// ── the kind of work, and the keys that go with it ──

/** The keys that say what a task is. A task with `role` waits to be claimed. */
const kinds = ['run', 'ask', 'goal', 'tasks', 'executor', 'role'] as const
export type Work = (typeof kinds)[number]

/** Two keys for one field. */
const synonyms = [
  ['timeout', 'timeoutMs'],
  ['system', 'systemPrompt'],
] as const

/**
 * The kind of a task's work.
 *
 * @param executors that a plan may name; undefined: any.
 * @throws ErrandError INVALID_PLAN for a task without work, with two kinds of it, or with a key that does not go with its kind.
 */
export function kindOf(raw: RawPlanTask, executors: readonly string[] | undefined, wrong: Complaints): Work {
  const [work, second] = kinds.filter((key) => raw[key] !== undefined)
  if (work === undefined) {
    throw wrong.value(
      [],
      'has nothing to do: give it `run` (a command), `ask` (a question), `goal` (what an agent is to reach), `tasks` (a group), `executor`, or `role` (who may claim it)',
    )
  }
  if (second !== undefined) {
    throw wrong.key(
      [second],
      `has both \`${work}\` and \`${second}\`: it can be only one of run, ask, goal, tasks, executor and role`,
    )
  }
  const foreign = foreignKeys[work].find((key) => raw[key] !== undefined)
  if (foreign !== undefined) {
    throw wrong.key([foreign], `has \`${foreign}\`, which means nothing beside \`${work}\``)
  }
  for (const [one, other] of synonyms) {
    if (raw[one] !== undefined && raw[other] !== undefined) throw wrong.key([other], hasBoth(one, other))
  }
  if (raw.retry !== undefined && 'maxBackoff' in raw.retry && 'maxBackoffMs' in raw.retry) {
    throw wrong.key(['retry', 'maxBackoffMs'], hasBoth('maxBackoff', 'maxBackoffMs'))
  }
  if (raw.metadata !== undefined && Object.hasOwn(raw.metadata, 'plan')) {
    throw wrong.key(
      ['metadata', 'plan'],
      'has metadata "plan", where errand notes which task of which plan it is; choose another name',
    )
  }
  if (work === 'executor' && executors !== undefined) checkExecutor(raw.executor as string, executors, wrong)
  return work
}

function hasBoth(one: string, other: string): string {
  return `has both \`${one}\` and \`${other}\`: they are the same thing, keep one`
}

/** Keys of agents only. */
const agentKeys = ['model', 'system', 'systemPrompt', 'abilities', 'agentId'] as const

const foreignKeys: Readonly<Record<Work, ReadonlyArray<keyof RawPlanTask>>> = {
  run: agentKeys,
  ask: ['input', 'cwd', 'env', 'shell', 'onInterrupt', ...agentKeys],
  goal: ['cwd', 'env', 'shell'],
  tasks: ['input', 'retry', 'timeout', 'timeoutMs', 'notBefore', 'onInterrupt', ...agentKeys],
  executor: ['cwd', 'env', 'shell', ...agentKeys],
  role: ['cwd', 'env', 'shell', 'retry', 'timeout', 'timeoutMs', 'onInterrupt', 'autoStart', ...agentKeys],
}

const teamKeys = ['type', 'objectives', 'parentBranch', 'durableThreshold', 'durableCategories'] as const

/** Any key of teams makes the task a team. */
export function hasTeam(raw: RawPlanTask): boolean {
  return raw.team === true || teamKeys.some((key) => raw[key] !== undefined)
}

/** The engine checks this too; checked here, the error names a line of the file. `inTeam`: the task or a group around it is a team. */
export function checkTeam(raw: RawPlanTask, inTeam: boolean, wrong: Complaints): void {
  if (raw.team === false && hasTeam(raw)) {
    throw wrong.value(['team'], 'has `team: false` beside a key that only a team has: leave one of them out')
  }
  if (raw.agentId !== undefined && !inTeam) {
    throw wrong.key(
      ['agentId'],
      'has `agentId`, the name of its agent in a team, but neither it nor a group around it has `team: true`',
    )
  }
}

function checkExecutor(executor: string, executors: readonly string[], wrong: Complaints): void {
  if (executors.includes(executor)) return
  const nearest = nearestName(executor, executors)
  throw wrong.value(
    ['executor'],
    `names the executor "${executor}", which does not exist here.${didYouMean(nearest)} There are: ${executors.join(', ')}`,
    { executor, nearest },
  )
}

/** @throws ErrandError INVALID_PLAN for a key that belongs elsewhere, with what to do instead. */
export function refuseKeys(
  value: unknown,
  wrong: Pick<Complaints, 'key'>,
  refused: Readonly<Record<string, string>> = refusedTaskKeys,
): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const why = Object.hasOwn(refused, key) ? refused[key] : undefined
    if (why !== undefined) throw wrong.key([key], `has \`${key}\`: ${why}`, { key })
  }
}

// ── the order of the tasks, and the names of their results ──

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
    const variables = [resultVariable(name), fileVariable(name)]
    const variable = variables.find((each) => owners.has(each))
    if (variable !== undefined) {
      const owner = owners.get(variable) as string
      const at = task.path.split('/').flatMap((step) => ['tasks', step])
      throw complaintsOf(source, task.path, at).value(
        ['after'],
        `comes after "${owner}" and "${path}", and the results of both would be its $${variable}. Give one of them another name`,
        { task: task.path, variable, candidates: [owner, path] },
      )
    }
    for (const each of variables) owners.set(each, path)
  }
}
