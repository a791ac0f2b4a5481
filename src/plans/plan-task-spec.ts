// What a task of a plan is created with: the short forms become executor and input, and the definition gets a hash.

import { isAbsolute, resolve } from 'node:path'
import { canonicalJson } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import type { StoredEnvironment } from '../executors/secret-reference.ts'
import type { PlanTaskSpec } from './plan.ts'
import { planFields, type RawPlanTask } from './plan-schema.ts'
import type { Work } from './plan-task-kind.ts'

/** What a task inherits from the groups around it. */
export interface Inherited {
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

/** Fields that `create` takes as they are. The round decides `autoStart` and `deadline`. */
const passedFields = planFields.filter((field) => field !== 'autoStart' && field !== 'deadline')

export function specOf(scope: Inherited, raw: RawPlanTask, name: string, work: Work): PlanTaskSpec {
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
export function definitionHash({ after, ...scope }: Inherited, raw: RawPlanTask, name: string, work: Work): string {
  const { autoStart: _autoStart, tasks: _tasks, cwd: _cwd, env: _env, shell: _shell, ...definition } = raw
  const place = work === 'run' ? { cwd: scope.cwd, env: scope.env, shell: scope.shell } : {}
  const text = canonicalJson({ ...definition, ...place, name: raw.name ?? name, work, after })
  return sha256(text).slice(0, 16)
}

/** Joins two folders as written, so that the result does not depend on where the plan lies. */
export function joinWritten(outer: string, inner: string): string {
  return isAbsolute(inner) || outer === '.' ? inner : `${outer}/${inner}`
}
