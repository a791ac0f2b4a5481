// Which kind of work a task of a plan is, and which keys go with it.
import { didYouMean } from '../core/did-you-mean.ts'
import { nearestName } from '../core/errors.ts'
import type { Complaints } from './plan-complaints.ts'
import { type RawPlanTask, refusedTaskKeys } from './plan-schema.ts'

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
export function refuseKeys(value: unknown, wrong: Complaints): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const why = Object.hasOwn(refusedTaskKeys, key) ? refusedTaskKeys[key] : undefined
    if (why !== undefined) throw wrong.key([key], `has \`${key}\`: ${why}`, { key })
  }
}
