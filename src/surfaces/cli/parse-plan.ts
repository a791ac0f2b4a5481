// From a file to a plan: what it says is judged whole before anything is created. A plan is `create`'s own shape plus
// short forms; here the short forms become executor and input, and every task gets its path, by which later runs find
// it again.
import { hash } from 'node:crypto'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { z } from 'zod'
import { type ErrandError, nearestName } from '../../errors.ts'
import { canonicalJson } from '../../json.ts'
import { didYouMean } from './did-you-mean.ts'
import { flatten, type Plan, type PlanTask, type PlanTaskSpec } from './plan.ts'
import { findCycle } from './plan-graph.ts'
import { planFields, planKeys, planSchema, planTaskSchema, type RawPlanTask, refusedTaskKeys } from './plan-schema.ts'
import { type PlanPath, type PlanSource, readPlanSource } from './plan-source.ts'

/** Executors that a plan can name; their schemas judge `input` when the tasks are created. */
export const planExecutors = ['shell', 'ask'] as const

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
  const raw = check(source, planSchema, source.value, [], 'plan')
  const root: Scope = {
    source,
    folder,
    cwd: raw.cwd ?? '.',
    env: raw.env ?? {},
    shell: raw.shell,
    after: [],
    autoStart: true,
    team: false,
  }
  const tasks = parseLevel(root, raw.tasks, ['tasks'], null)
  const byPath = new Map(flatten(tasks).map((task) => [task.path, task]))
  for (const task of byPath.values()) checkResultNames(source, task, byPath)
  return {
    file: path,
    folder,
    name: raw.name ?? basename(path).replace(/\.(ya?ml|json)$/i, ''),
    description: raw.description,
    concurrency: raw.concurrency,
    model: raw.model,
    files: raw.files === undefined ? undefined : resolve(folder, raw.files),
    maxIterations: raw.maxIterations,
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
  env: Record<string, string>
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
  checkAfter(scope.source, level, raw, at)
  return level
}

function checkName(source: PlanSource, name: string, at: PlanPath): void {
  if (name.trim() === '' || name.length > 200 || /[\p{Cc}/]/u.test(name) || name === '__proto__') {
    throw source.error(
      at,
      `The task name ${JSON.stringify(name)} is not usable: a name is one to 200 characters without "/" and control characters`,
      {
        at: 'key',
      },
    )
  }
}

function parseTask(scope: Scope, name: string, value: unknown, at: PlanPath, parent: string | null): PlanTask {
  const path = parent === null ? name : `${parent}/${name}`
  refuseKeys(scope.source, value, at, path)
  const raw = check(scope.source, planTaskSchema, value, at, 'task', path)
  const work = kindOf(scope.source, raw, at, path)
  const after = [...new Set(raw.after ?? [])].map((sibling) => (parent === null ? sibling : `${parent}/${sibling}`))
  const inner: Scope = {
    ...scope,
    cwd: raw.cwd === undefined ? scope.cwd : joinWritten(scope.cwd, raw.cwd),
    env: { ...scope.env, ...raw.env },
    shell: raw.shell ?? scope.shell,
    after: [...after, ...scope.after],
    autoStart: scope.autoStart && raw.autoStart !== false,
    team: scope.team || hasTeam(raw),
  }
  checkTeam(inner, raw, at, path)
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

/** What a task is can be told by one of these keys; with `role` it is worked on by whoever claims it. */
const kinds = ['run', 'ask', 'goal', 'tasks', 'executor', 'role'] as const
type Work = (typeof kinds)[number]

/** A task has one kind of work, and only the keys that go with it. */
function kindOf(source: PlanSource, raw: RawPlanTask, at: PlanPath, path: string): Work {
  const given = kinds.filter((key) => raw[key] !== undefined)
  const [work, second] = given
  if (work === undefined) {
    throw source.error(
      at,
      `The task "${path}" has nothing to do: give it \`run\` (a command), \`ask\` (a question), \`goal\` (what an agent is to reach), \`tasks\` (a group), \`executor\`, or \`role\` (who may claim it)`,
    )
  }
  if (second !== undefined) {
    throw source.error(
      [...at, second],
      `The task "${path}" has both \`${work}\` and \`${second}\`: it can be only one of run, ask, goal, tasks, executor and role`,
      {
        at: 'key',
      },
    )
  }
  const foreign = foreignKeys[work].find((key) => raw[key] !== undefined)
  if (foreign !== undefined) {
    throw source.error(
      [...at, foreign],
      `The task "${path}" has \`${foreign}\`, which means nothing beside \`${work}\``,
      { at: 'key' },
    )
  }
  if (raw.timeout !== undefined && raw.timeoutMs !== undefined) {
    throw source.error(
      [...at, 'timeoutMs'],
      `The task "${path}" has both \`timeout\` and \`timeoutMs\`: they are the same thing, keep one`,
      { at: 'key' },
    )
  }
  if (raw.system !== undefined && raw.systemPrompt !== undefined) {
    throw source.error(
      [...at, 'systemPrompt'],
      `The task "${path}" has both \`system\` and \`systemPrompt\`: they are the same thing, keep one`,
      { at: 'key' },
    )
  }
  if (raw.retry !== undefined && 'maxBackoff' in raw.retry && 'maxBackoffMs' in raw.retry) {
    throw source.error(
      [...at, 'retry', 'maxBackoffMs'],
      `The task "${path}" has both \`maxBackoff\` and \`maxBackoffMs\`: they are the same thing, keep one`,
      { at: 'key' },
    )
  }
  if (raw.metadata !== undefined && Object.hasOwn(raw.metadata, 'plan')) {
    throw source.error(
      [...at, 'metadata', 'plan'],
      `The task "${path}" has metadata "plan", where errand notes which task of which plan it is; choose another name`,
      {
        at: 'key',
      },
    )
  }
  if (work === 'executor') checkExecutor(source, raw.executor as string, at, path)
  return work
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

/** Here and not only by the engine, so that it is said of a line of the file, and before anything is created. */
function checkTeam({ source, team }: Scope, raw: RawPlanTask, at: PlanPath, path: string): void {
  if (raw.team === false && hasTeam(raw)) {
    throw source.error(
      [...at, 'team'],
      `The task "${path}" has \`team: false\` beside a key that only a team has: leave one of them out`,
    )
  }
  if (raw.agentId !== undefined && !team) {
    throw source.error(
      [...at, 'agentId'],
      `The task "${path}" has \`agentId\`, the name of its agent in a team, but neither it nor a group around it has \`team: true\``,
      { at: 'key' },
    )
  }
}

function checkExecutor(source: PlanSource, executor: string, at: PlanPath, path: string): void {
  if ((planExecutors as readonly string[]).includes(executor)) return
  const nearest = nearestName(executor, planExecutors)
  throw source.error(
    [...at, 'executor'],
    `The task "${path}" names the executor "${executor}", which the command line does not have.${didYouMean(nearest)} It has: ${planExecutors.join(', ')}`,
    { details: { executor, nearest } },
  )
}

function specOf(scope: Scope, raw: RawPlanTask, name: string, work: Work): PlanTaskSpec {
  const timeoutMs = raw.timeout ?? raw.timeoutMs
  return {
    ...fieldsIn(raw),
    name: raw.name ?? name,
    retry: raw.retry && retryOf(raw.retry),
    timeoutMs: work === 'ask' ? undefined : timeoutMs,
    ...workOf(raw, work, timeoutMs, placeOf(scope, resolve(scope.folder, scope.cwd))),
  }
}

/** What `create` is told as it stands. When a task starts and must have settled is said by the round. */
function fieldsIn(raw: RawPlanTask): PlanTaskSpec {
  const told = planFields.filter((field) => field !== 'autoStart' && field !== 'deadline')
  return Object.fromEntries(told.map((field) => [field, raw[field]]))
}

/** Anything that only a team has makes one. */
function hasTeam(raw: RawPlanTask): boolean {
  const { team, type, objectives, parentBranch, durableThreshold, durableCategories } = raw
  return (
    team === true ||
    [type, objectives, parentBranch, durableThreshold, durableCategories].some((each) => each !== undefined)
  )
}

function retryOf(retry: NonNullable<RawPlanTask['retry']>): PlanTaskSpec['retry'] {
  if (!('maxBackoff' in retry)) return retry
  const { maxBackoff, ...policy } = retry
  return { ...policy, maxBackoffMs: maxBackoff }
}

interface Place {
  cwd: string
  env: Record<string, string>
  shell: string | undefined
}

/** Where and how a command runs. */
function placeOf({ env, shell }: Scope, cwd: string): Place {
  return { cwd, env, shell }
}

/**
 * Executor and input: what the short forms stand for. The time-out of a question is how long it waits for its answer.
 */
function workOf(raw: RawPlanTask, work: Work, timeoutMs: number | undefined, place: Place): PlanTaskSpec {
  switch (work) {
    case 'run':
      return { executor: 'shell', input: { run: raw.run, ...place, ...stdinOf(raw.input) } }
    case 'ask':
      return { executor: 'ask', input: { ...raw.ask, timeoutMs } }
    // Whether there is a model for it is known only when the plan is run (goal-tasks.ts).
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

function definitionHash(scope: Scope, raw: RawPlanTask, name: string, work: Work): string {
  const { autoStart: _autoStart, tasks: _tasks, cwd: _cwd, env: _env, shell: _shell, ...definition } = raw
  const place = work === 'run' ? placeOf(scope, scope.cwd) : {}
  return hash(
    'sha256',
    canonicalJson({ ...definition, ...place, name: raw.name ?? name, work, after: scope.after }),
  ).slice(0, 16)
}

/** A folder inside a folder, as written: what comes of it does not depend on where the plan lies. */
function joinWritten(outer: string, inner: string): string {
  return isAbsolute(inner) || outer === '.' ? inner : `${outer}/${inner}`
}

function checkAfter(source: PlanSource, level: PlanTask[], raw: Record<string, unknown>, at: PlanPath): void {
  const byPath = new Map(level.map((task) => [task.path, task]))
  for (const task of level) {
    for (const [index, blocker] of task.after.entries()) {
      if (!byPath.has(blocker))
        throw missingBlocker(source, task, blocker, level, raw, [...at, task.name, 'after', index])
    }
  }
  const cycle = findCycle(level)
  if (cycle === undefined) return
  const [first] = cycle
  throw source.error(
    [...at, (byPath.get(first as string) as PlanTask).name, 'after'],
    `These tasks wait for each other: ${cycle.join(' → ')}`,
    {
      details: { cycle },
    },
  )
}

function missingBlocker(
  source: PlanSource,
  task: PlanTask,
  blocker: string,
  level: PlanTask[],
  raw: Record<string, unknown>,
  at: PlanPath,
): ErrandError {
  const name = task.parent === null ? blocker : blocker.slice(task.parent.length + 1)
  const siblings = level.filter((other) => other !== task).map((other) => other.name)
  const nearest = nearestName(name, siblings)
  const group = level.find((other) => other.children.some((child) => child.name === name))
  const where = task.parent === null ? 'at the top of the plan' : `in the group "${task.parent}"`
  const help =
    group !== undefined && Object.hasOwn(raw, group.name)
      ? ` "${name}" stands inside the group "${group.name}": come after that`
      : didYouMean(nearest)
  return source.error(at, `The task "${task.path}" comes after "${name}", but there is no such task ${where}.${help}`, {
    details: { task: task.path, missing: name, nearest },
  })
}

/** A command finds the results of what it comes after in variables, by their names: two must not share one. */
function checkResultNames(source: PlanSource, task: PlanTask, byPath: ReadonlyMap<string, PlanTask>): void {
  if (task.spec.executor !== 'shell') return
  const owners = new Map<string, string>()
  for (const path of task.comesAfter) {
    const variable = resultVariable((byPath.get(path) as PlanTask).spec.name ?? '')
    if (variable === undefined) continue
    const owner = owners.get(variable)
    if (owner !== undefined) {
      throw source.error(
        [...task.path.split('/').flatMap((name) => ['tasks', name]), 'after'],
        `The task "${task.path}" comes after "${owner}" and "${path}", and the results of both would be its $${variable}. Give one of them another name`,
        { details: { task: task.path, variable, candidates: [owner, path] } },
      )
    }
    owners.set(variable, path)
  }
}

/** As the executor names it (executors/command-environment.ts); undefined when nothing of the name would be left in it. */
function resultVariable(name: string): string | undefined {
  if (/\P{ASCII}/u.test(name) && !/[A-Za-z]/.test(name)) return undefined
  return `ERRAND_RESULT_${name.replaceAll(/[^A-Za-z0-9_]/g, '_')}`
}

function refuseKeys(source: PlanSource, value: unknown, at: PlanPath, path: string): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const why = Object.hasOwn(refusedTaskKeys, key) ? refusedTaskKeys[key] : undefined
    if (why !== undefined)
      throw source.error([...at, key], `The task "${path}" has \`${key}\`: ${why}`, { at: 'key', details: { key } })
  }
}

/** Parses one mapping with zod and turns the first complaint into one with a place in the file. */
function check<T extends z.ZodType>(
  source: PlanSource,
  schema: T,
  value: unknown,
  at: PlanPath,
  what: 'plan' | 'task',
  path?: string,
): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues
  const issue = (issues.find((each) => each.code === 'unrecognized_keys') ?? issues[0]) as z.core.$ZodIssue
  const inside = issue.path as Array<string | number>
  const owner = what === 'plan' ? 'The plan' : `The task "${path}"`
  if (issue.code === 'unrecognized_keys')
    throw unknownKey(source, issue.keys[0] as string, [...at, ...inside], owner, inside, what)
  const where = inside.length === 0 ? '' : `: ${inside.join('.')}`
  if (inside.length === 0 && issue.code === 'invalid_type') {
    throw source.error(
      at,
      `${owner} must be a mapping like ${what === 'plan' ? '{ tasks: { … } }' : '{ run: "make" }'}, got ${kindOfValue(value)}`,
    )
  }
  throw source.error([...at, ...inside], `${owner}${where}: ${wordsOf(issue)}`)
}

function wordsOf(issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined
  return (inner ?? issue).message.replace(/^Invalid input: /, '')
}

function unknownKey(
  source: PlanSource,
  key: string,
  at: PlanPath,
  owner: string,
  inside: PlanPath,
  what: 'plan' | 'task',
): ErrandError {
  const place = inside.at(-1)
  const known: readonly string[] = place === 'ask' || place === 'retry' ? planKeys[place] : planKeys[what]
  const nearest = nearestName(key, known)
  const owned = place === undefined ? owner : `${owner}: ${inside.join('.')}`
  return source.error(
    [...at, key],
    `${owned} has no key "${key}".${didYouMean(nearest)} It takes: ${known.join(', ')}`,
    {
      at: 'key',
      details: { key, nearest },
    },
  )
}

function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
