// Refuses options that have no effect on a task, because the caller expects one.

import { ErrandError } from '../../core/errors.ts'
import type { ChildSpec } from '../../entities/options.ts'
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
    ? 'it is a group, which has no work of its own. Set it on the tasks in the group'
    : byHand
      ? option === 'model' || option === 'systemPrompt'
        ? 'no agent works on it. Give the task a goal and no role, or name an agent as its executor'
        : 'a task without an executor has no runs. Name an executor'
      : 'its executor runs it, so it is not claimed. Leave the executor out'
  throw doesNothing(option, name, `${why}, or leave it out.`)
}

export function doesNothing(option: string, name: string, why: string, more: object = {}): ErrandError {
  return new ErrandError('INVALID_INPUT', `\`${option}\` has no effect on "${name}": ${why}`, { name, option, ...more })
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
  const why = `its executor ${executor} is not an agent. Leave it out, or name an executor that \`agent\` made.`
  throw doesNothing(option, name, why, { executor })
}
