// Parses a plan: checks it as a whole before anything is created. A plan has the shape of `create` with short forms; here each task
// gets its executor and input, its path, by which later runs find it again, and a hash of its definition.
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import type { StoredEnvironment } from '../commands/index.ts'
import { canonicalJson, lossIn } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import { flatten, type Plan, type PlanTask, type PlanTaskSpec } from './plan.ts'
import {
  checkAfter,
  checkResultNames,
  checkTeam,
  complaintsOf,
  hasTeam,
  kindOf,
  parseMapping,
  refuseKeys,
  type Work,
} from './plan-checks.ts'
import { planFields, planSchema, planTaskSchema, type RawPlanTask, refusedPlanKeys } from './plan-schema.ts'
import { type PlanPath, type PlanSource, planValueSource, readPlanSource } from './plan-source.ts'

/** The executors of `errand run`. */
export const commandLineExecutors = ['shell', 'ask'] as const

/**
 * Reads and parses a plan file.
 *
 * @param executors that its tasks may name; undefined: any.
 * @throws ErrandError INVALID_PLAN { file, line, column } or NOT_FOUND.
 */
export async function readPlan(file: string, cwd: string, executors: readonly string[] | undefined): Promise<Plan> {
  const source = await readPlanSource(file, cwd)
  return parsePlan(source, { file: source.path, folder: dirname(source.path), executors })
}

/** Where a plan lies: relative folders begin at `folder`. `file` is its real path, null for a plan that was given as a value. */
export interface PlanPlace {
  file: string | null
  folder: string
  executors: readonly string[] | undefined
}

/** A plan that was given as a value. @throws ErrandError INVALID_PLAN */
export function parsePlanValue(value: unknown, place: Omit<PlanPlace, 'file'>): Plan {
  return parsePlan(planValueSource(value), { file: null, ...place })
}

export function parsePlan(source: PlanSource, { file, folder, executors }: PlanPlace): Plan {
  checkValues(source)
  const wrong = (keys: PlanPath, text: string, details?: Record<string, unknown>) =>
    source.error(keys, `The plan ${text}`, { at: 'key', details })
  refuseKeys(source.value, { key: wrong }, refusedPlanKeys)
  const raw = parseMapping(source, planSchema, withoutOwnKeys(source.value), [], 'plan', 'The plan')
  const { cwd = '.', env = {}, shell, tasks: rawTasks, ...top } = raw
  const root: Scope = { source, executors, folder, cwd, env, shell, after: [], autoStart: true, team: false }
  const tasks = parseLevel(root, rawTasks, ['tasks'], null)
  const byPath = new Map(flatten(tasks).map((task) => [task.path, task]))
  for (const task of byPath.values()) checkResultNames(source, task, byPath)
  return {
    ...top,
    file,
    folder,
    name: top.name ?? nameOf(source, file),
    files: top.files === undefined ? undefined : resolve(folder, top.files),
    tasks,
    byPath,
  }
}

/** Keys `x-…` at the top are the author's own, for parts that several tasks use by their anchors. */
function withoutOwnKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('x-')))
}

/** @throws ErrandError INVALID_PLAN for what JSON cannot carry: a number like `.nan`, or in a value a function or a Map. */
function checkValues(source: PlanSource): void {
  const loss = lossIn(source.value)
  if (loss !== undefined) throw source.error(loss.path, `JSON cannot carry ${loss.what}, which stands here`)
}

/** @throws ErrandError INVALID_PLAN for a plan without file and name: its rounds could not be found again. */
function nameOf(source: PlanSource, file: string | null): string {
  if (file !== null) return basename(file).replace(/\.(ya?ml|json)$/i, '')
  throw source.error(
    [],
    'The plan has no `name`. A plan that is given as a value needs one, by which a later run finds its tasks',
  )
}

/** What a task inherits from the groups around it. */
interface Inherited {
  /** Folder of the plan. */
  folder: string
  /** As written, relative to the plan's folder. */
  cwd: string
  env: StoredEnvironment
  /** Undefined: the user's own shell. */
  shell: string | undefined
  /** Paths that the groups around it come after. */
  after: string[]
  autoStart: boolean
  /** The task, or a group around it, is a team. */
  team: boolean
}

interface Scope extends Inherited {
  source: PlanSource
  executors: readonly string[] | undefined
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
  const path = childPath(parent, name)
  const wrong = complaintsOf(scope.source, path, at)
  refuseKeys(value, wrong)
  const raw = parseMapping(scope.source, planTaskSchema, value, at, 'task', `The task "${path}"`)
  const work = kindOf(raw, scope.executors, wrong)
  const after = [...new Set(raw.after ?? [])].map((sibling) => childPath(parent, sibling))
  const inner: Scope = {
    ...scope,
    cwd: raw.cwd === undefined ? scope.cwd : joinWritten(scope.cwd, raw.cwd),
    env: { ...scope.env, ...raw.env },
    shell: raw.shell ?? scope.shell,
    after: [...after, ...scope.after],
    autoStart: scope.autoStart && raw.autoStart !== false,
    team: scope.team || hasTeam(raw),
  }
  checkTeam(raw, inner.team, wrong)
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

function childPath(parent: string | null, name: string): string {
  return parent === null ? name : `${parent}/${name}`
}

/** Fields that `create` takes as they are. The round decides `autoStart` and `deadline`. */
const passedFields = planFields.filter((field) => field !== 'autoStart' && field !== 'deadline')

function specOf(scope: Inherited, raw: RawPlanTask, name: string, work: Work): PlanTaskSpec {
  return {
    ...Object.fromEntries(passedFields.map((field) => [field, raw[field]])),
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

/** Executor and input of a short form. */
function workOf({ folder, cwd, env, shell }: Inherited, raw: RawPlanTask, work: Work): PlanTaskSpec {
  switch (work) {
    case 'run':
      return {
        executor: 'shell',
        input: { run: raw.run, cwd: resolve(folder, cwd), env, shell, ...stdinOf(raw.input) },
      }
    // The timeout of a question limits how long it waits for its answer.
    case 'ask':
      return {
        executor: 'ask',
        input: { ...raw.ask, timeoutMs: raw.timeout ?? raw.timeoutMs },
        timeoutMs: undefined,
      }
    // Whether a model exists is checked when the plan is run.
    case 'goal':
      return { executor: 'agent', systemPrompt: raw.systemPrompt ?? raw.system }
    case 'executor':
    case 'role':
    case 'tasks':
      return {}
  }
}

/** The standard input of a command: text as it is, any other value as JSON. */
function stdinOf(input: unknown): { stdin?: string } {
  if (input === undefined) return {}
  return { stdin: typeof input === 'string' ? input : `${JSON.stringify(input)}\n` }
}

/** Changes with the definition of a task and with what it comes after, and not with the folder of the plan. */
function definitionHash({ after, ...scope }: Inherited, raw: RawPlanTask, name: string, work: Work): string {
  const { autoStart: _autoStart, tasks: _tasks, cwd: _cwd, env: _env, shell: _shell, ...definition } = raw
  const place = work === 'run' ? { cwd: scope.cwd, env: scope.env, shell: scope.shell } : {}
  const text = canonicalJson({ ...definition, ...place, name: raw.name ?? name, work, after })
  return sha256(text).slice(0, 16)
}

/** Joins two folders as written, so that the result does not depend on where the plan lies. */
function joinWritten(outer: string, inner: string): string {
  return isAbsolute(inner) || outer === '.' ? inner : `${outer}/${inner}`
}
