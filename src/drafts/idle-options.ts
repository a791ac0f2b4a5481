// An option that would do nothing for a task is not taken: whoever gave it counts on it.

import type { ChildSpec } from '../api/options.ts'
import { ErrandError } from '../core/errors.ts'
import { type KnownExecutors, mayBeAgent } from './known-executors.ts'

type IdleOption = 'retry' | 'timeoutMs' | 'role' | 'systemPrompt' | 'model'

export function refuseIdlePolicy(
  spec: { [field in IdleOption]?: unknown },
  name: string,
  executor: string | null,
  group: boolean,
): void {
  const byHand = executor === null && !group
  const ofRuns: IdleOption[] = ['retry', 'timeoutMs', 'systemPrompt', 'model']
  const idle: IdleOption[] = byHand ? ofRuns : group ? [...ofRuns, 'role'] : ['role']
  const option = idle.find((field) => spec[field] !== undefined && spec[field] !== null)
  if (option === undefined) return
  const why = group
    ? 'it is a group and is not worked on itself. Give it to the tasks in the group'
    : byHand
      ? option === 'model' || option === 'systemPrompt'
        ? 'no agent works on it. Give the task a goal and no role, or name an agent as its executor'
        : 'without an executor no run of it is ever made. Name an executor'
      : 'its executor runs it, and nobody claims it. Leave the executor out'
  throw doesNothing(option, name, `${why}, or leave it out.`)
}

export function doesNothing(option: string, name: string, why: string, more: object = {}): ErrandError {
  return new ErrandError('INVALID_INPUT', `\`${option}\` does nothing for "${name}": ${why}`, { name, option, ...more })
}

/** Instructions and models are for agents only. */
export function refuseAgentOptions(
  spec: ChildSpec,
  name: string,
  executor: string | null,
  context: KnownExecutors,
): void {
  if (executor === null || mayBeAgent(executor, context)) return
  const option = (['systemPrompt', 'model'] as const).find((field) => spec[field] !== undefined)
  if (option === undefined) return
  const why = `its executor ${executor} is no agent. Leave it out, or name an executor that \`agent\` made.`
  throw doesNothing(option, name, why, { executor })
}
