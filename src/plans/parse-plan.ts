// From a file to a plan: what it says is judged whole before anything is created. A plan is `create`'s own shape plus
// short forms; here the short forms become executor and input, and every task gets its path, by which later runs find
// it again.
import { hash } from 'node:crypto'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { z } from 'zod'
import { didYouMean } from '../core/did-you-mean.ts'
import { type ErrandError, nearestName } from '../core/errors.ts'
import { canonicalJson } from '../core/json.ts'
import { resultVariable } from '../executors/command-environment.ts'
import type { StoredEnvironment } from '../executors/secret-reference.ts'
import { findCycle, flatten, type Plan, type PlanTask, type PlanTaskSpec } from './plan.ts'
import { planFields, planKeys, planSchema, planTaskSchema, type RawPlanTask, refusedTaskKeys } from './plan-schema.ts'
import { type PlanPath, type PlanSource, readPlanSource } from './plan-source.ts'

/** Executors that a plan can name; their schemas judge `input` when the tasks are created. */
const planExecutors = ['shell', 'ask'] as const

/**
 * Reads and judges a plan file.
 * @throws ErrandError INVALID_PLAN { file, line, column } or NOT_FOUND.
 */
export async function readPlan(file: string, cwd: string): Promise<Plan> {
  const source = await readPlanSource(file, cwd)
  return parsePlan(source, source.path)
}

/** Judges what a file said. `path` is where it lies: relative folders begin there. */
export function parsePlan(source: PlanSource, path: string): Plan {
  const folder = dirname(path)
  const raw = check(source, planSchema, source.value, [], 'plan', 'The plan')
  const { cwd = '.', env = {}, shell, tasks: rawTasks, ...said } = raw
  const root: Scope = { source, folder, cwd, env, shell, after: [], autoStart: true, team: false }
  const tasks = parseLevel(root, rawTasks, ['tasks'], null)
  const byPath = new Map(flatten(tasks).map((task) => [task.path, task]))
  for (const task of byPath.values()) checkResultNames(source, task, byPath)
  return {
    ...said,
    file: path,
    folder,
    name: said.name ?? basename(path).replace(/\.(ya?ml|json)$/i, ''),
    files: said.files === undefined ? undefined : resolve(folder, said.files),
    tasks,
    byPath,
  }
}

/** What a task inherits from the groups around it. */
interface Scope {
  source: PlanSource
  folder: string
  /** As written, relative to the plan's folder. */
  cwd: string
  env: StoredEnvironment
  /** Undefined: the user's own. */
  shell: string | undefined
  /** Paths that the groups around come after. */
  after: string[]
  autoStart: boolean
  /** It, or a group around it, is a team's. */
  team: boolean
}

function parseLevel(scope: Scope, raw: Record<string, unknown>, at: PlanPath, parent: string | null): PlanTask[] {
  const names = Object.keys(raw)
  if (names.length === 0)
    throw scope.source.error(at.slice(0, -1), `${parent === null ? 'The plan' : `The group "${parent}"`} has no tasks`)
  for (const name of names) checkName(scope.source, name, [...at, name])
  const level = names.map((name) => parseTask(scope, name, raw[name], [...at, name], parent))
  checkAfter(scope.source, level, at)
  return level
}

function checkName(source: PlanSource, name: string, at: PlanPath): void {
  if (name.trim() !== '' && name.length <= 200 && !/[\p{Cc}/]/u.test(name) && name !== '__proto__') return
  throw source.error(
    at,
    `The task name ${JSON.stringify(name)} is not usable: a name is one to 200 characters without "/" and control characters`,
    { at: 'key' },
  )
}

function parseTask(scope: Scope, name: string, value: unknown, at: PlanPath, parent: string | null): PlanTask {
  const path = pathBelow(parent, name)
  const wrong = complaintsOf(scope.source, path, at)
  refuseKeys(value, wrong)
  const raw = check(scope.source, planTaskSchema, value, at, 'task', `The task "${path}"`)
  const work = kindOf(raw, wrong)
  const after = [...new Set(raw.after ?? [])].map((sibling) => pathBelow(parent, sibling))
  const inner: Scope = {
    ...scope,
    cwd: raw.cwd === undefined ? scope.cwd : joinWritten(scope.cwd, raw.cwd),
    env: { ...scope.env, ...raw.env },
    shell: raw.shell ?? scope.shell,
    after: [...after, ...scope.after],
    autoStart: scope.autoStart && raw.autoStart !== false,
    team: scope.team || hasTeam(raw),
  }
  checkTeam(inner, raw, wrong)
  const children = work === 'tasks' ? parseLevel(inner, raw.tasks ?? {}, [...at, 'tasks'], path) : []
  return {
    path,
    name,
    group: work === 'tasks',
    parent,
    after,
    comesAfter: inner.after,
    autoStart: inner.autoStart,
    spec: specOf(inner, raw, name, work),
    deadline: raw.deadline,
    definitionHash: definitionHash(inner, raw, name, work),
    children,
  }
}

function pathBelow(parent: string | null, name: string): string {
  return parent === null ? name : `${parent}/${name}`
}

/** Complaints about a task. They name it, and point below its place in the file: at a key, or at the value of one. */
function complaintsOf(source: PlanSource, path: string, at: PlanPath) {
  const pointingAt =
    (what?: 'key') =>
    (keys: PlanPath, words: string, details?: Record<string, unknown>): ErrandError =>
      source.error([...at, ...keys], `The task "${path}" ${words}`, { at: what, details })
  return { key: pointingAt('key'), value: pointingAt() }
}
type Complaints = ReturnType<typeof complaintsOf>

/** What a task is can be told by one of these keys; with `role` it is worked on by whoever claims it. */
const kinds = ['run', 'ask', 'goal', 'tasks', 'executor', 'role'] as const
type Work = (typeof kinds)[number]

/** Keys that say the same. */
const synonyms = [
  ['timeout', 'timeoutMs'],
  ['system', 'systemPrompt'],
] as const

/** A task has one kind of work, and only the keys that go with it. */
function kindOf(raw: RawPlanTask, wrong: Complaints): Work {
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
  if (work === 'executor') checkExecutor(raw.executor as string, wrong)
  return work
}

function hasBoth(one: string, other: string): string {
  return `has both \`${one}\` and \`${other}\`: they are the same thing, keep one`
}

/** What only an agent has. */
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

/** Anything that only a team has makes one. */
function hasTeam(raw: RawPlanTask): boolean {
  return raw.team === true || teamKeys.some((key) => raw[key] !== undefined)
}

/** Here and not only by the engine, so that it is said of a line of the file, and before anything is created. */
function checkTeam({ team }: Scope, raw: RawPlanTask, wrong: Complaints): void {
  if (raw.team === false && hasTeam(raw)) {
    throw wrong.value(['team'], 'has `team: false` beside a key that only a team has: leave one of them out')
  }
  if (raw.agentId !== undefined && !team) {
    throw wrong.key(
      ['agentId'],
      'has `agentId`, the name of its agent in a team, but neither it nor a group around it has `team: true`',
    )
  }
}

function checkExecutor(executor: string, wrong: Complaints): void {
  if ((planExecutors as readonly string[]).includes(executor)) return
  const nearest = nearestName(executor, planExecutors)
  throw wrong.value(
    ['executor'],
    `names the executor "${executor}", which the command line does not have.${didYouMean(nearest)} It has: ${planExecutors.join(', ')}`,
    { executor, nearest },
  )
}

/** What `create` is told as it stands. When a task starts and must have settled is said by the round. */
const toldFields = planFields.filter((field) => field !== 'autoStart' && field !== 'deadline')

function specOf(scope: Scope, raw: RawPlanTask, name: string, work: Work): PlanTaskSpec {
  return {
    ...Object.fromEntries(toldFields.map((field) => [field, raw[field]])),
    name: raw.name ?? name,
    retry: raw.retry && retryOf(raw.retry),
    timeoutMs: raw.timeout ?? raw.timeoutMs,
    ...workOf(scope, raw, work),
  }
}

function retryOf(retry: NonNullable<RawPlanTask['retry']>): PlanTaskSpec['retry'] {
  if (!('maxBackoff' in retry)) return retry
  const { maxBackoff, ...policy } = retry
  return { ...policy, maxBackoffMs: maxBackoff }
}

/** Executor and input: what the short forms stand for. */
function workOf({ folder, cwd, env, shell }: Scope, raw: RawPlanTask, work: Work): PlanTaskSpec {
  switch (work) {
    case 'run':
      return {
        executor: 'shell',
        input: { run: raw.run, cwd: resolve(folder, cwd), env, shell, ...stdinOf(raw.input) },
      }
    // The time-out of a question is how long it waits for its answer.
    case 'ask':
      return {
        executor: 'ask',
        input: { ...raw.ask, timeoutMs: raw.timeout ?? raw.timeoutMs },
        timeoutMs: undefined,
      }
    // Whether there is a model for it is known only when the plan is run.
    case 'goal':
      return { executor: 'agent', systemPrompt: raw.systemPrompt ?? raw.system }
    case 'executor':
    case 'role':
    case 'tasks':
      return {}
  }
}

/** The input of a command is what it reads: text as it is, anything else as JSON. */
function stdinOf(input: unknown): { stdin?: string } {
  if (input === undefined) return {}
  return { stdin: typeof input === 'string' ? input : `${JSON.stringify(input)}\n` }
}

function definitionHash({ after, ...scope }: Scope, raw: RawPlanTask, name: string, work: Work): string {
  const { autoStart: _autoStart, tasks: _tasks, cwd: _cwd, env: _env, shell: _shell, ...definition } = raw
  const place = work === 'run' ? { cwd: scope.cwd, env: scope.env, shell: scope.shell } : {}
  const text = canonicalJson({ ...definition, ...place, name: raw.name ?? name, work, after })
  return hash('sha256', text).slice(0, 16)
}

/** A folder inside a folder, as written: what comes of it does not depend on where the plan lies. */
function joinWritten(outer: string, inner: string): string {
  return isAbsolute(inner) || outer === '.' ? inner : `${outer}/${inner}`
}

/** @param at where the level stands in the file. */
function checkAfter(source: PlanSource, level: PlanTask[], at: PlanPath): void {
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

function missingBlocker(wrong: Complaints, task: PlanTask, index: number, level: PlanTask[]): ErrandError {
  const name = (task.after[index] as string).slice(task.parent === null ? 0 : task.parent.length + 1)
  const siblings = level.filter((other) => other !== task).map((other) => other.name)
  const nearest = nearestName(name, siblings)
  const group = level.find((other) => other.children.some((child) => child.name === name))
  const where = task.parent === null ? 'at the top of the plan' : `in the group "${task.parent}"`
  const help =
    group === undefined ? didYouMean(nearest) : ` "${name}" stands inside the group "${group.name}": come after that`
  return wrong.value(['after', index], `comes after "${name}", but there is no such task ${where}.${help}`, {
    task: task.path,
    missing: name,
    nearest,
  })
}

/** A command finds the results of what it comes after in variables, by their names: two must not share one. */
function checkResultNames(source: PlanSource, task: PlanTask, byPath: ReadonlyMap<string, PlanTask>): void {
  if (task.spec.executor !== 'shell') return
  const owners = new Map<string, string>()
  for (const path of task.comesAfter) {
    const { name = '' } = (byPath.get(path) as PlanTask).spec
    // Of such a name nothing would be left in the variable.
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

function refuseKeys(value: unknown, wrong: Complaints): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const why = Object.hasOwn(refusedTaskKeys, key) ? refusedTaskKeys[key] : undefined
    if (why !== undefined) throw wrong.key([key], `has \`${key}\`: ${why}`, { key })
  }
}

/** Parses one mapping with zod and turns the first complaint into one with a place in the file, about its `owner`. */
function check<T extends z.ZodType>(
  source: PlanSource,
  schema: T,
  value: unknown,
  at: PlanPath,
  what: 'plan' | 'task',
  owner: string,
): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const issue = (issues.find((each) => each.code === 'unrecognized_keys') ?? issues[0]) as z.core.$ZodIssue
  const inside = issue.path as Array<string | number>
  const part = inside.length === 0 ? owner : `${owner}: ${inside.join('.')}`
  if (issue.code === 'unrecognized_keys') {
    const place = inside.at(-1)
    const known: readonly string[] = planKeys[place === 'ask' || place === 'retry' ? place : what]
    const key = issue.keys[0] as string
    const nearest = nearestName(key, known)
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
  throw source.error([...at, ...inside], `${part}: ${(inner ?? issue).message.replace(/^Invalid input: /, '')}`)
}

function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
