// Errors about a part of a plan: each names the part and its place in the file.
import type { z } from 'zod'
import { didYouMean } from '../core/did-you-mean.ts'
import { type ErrandError, nearestName } from '../core/errors.ts'
import { innermostIssue } from '../core/explain-issue.ts'
import { safeParse } from '../core/parse.ts'
import { planKeys } from './plan-schema.ts'
import type { PlanPath, PlanSource } from './plan-source.ts'

/** Errors about a task, which point at a key below it or at the value of a key. `at` is the task's place in the file. */
export function complaintsOf(source: PlanSource, path: string, at: PlanPath) {
  const pointingAt =
    (what?: 'key') =>
    (keys: PlanPath, text: string, details?: Record<string, unknown>): ErrandError =>
      source.error([...at, ...keys], `The task "${path}" ${text}`, { at: what, details })
  return { key: pointingAt('key'), value: pointingAt() }
}
export type Complaints = ReturnType<typeof complaintsOf>

/** Keys of makefiles and of CI services, and what a plan calls them. */
const foreignKeys: Readonly<Record<string, string>> = {
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
  const meant = Object.hasOwn(foreignKeys, key) ? foreignKeys[key] : undefined
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
