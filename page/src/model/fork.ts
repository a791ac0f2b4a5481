// What a person chooses for the fork of a task, as the body of the request.

import { startOf } from '../../../src/core/storable-text.ts'
import { readJson } from './question-form.ts'
import type { Call, Message, Task } from './wire.ts'

export interface ForkDraft {
  /** Id of a call or of the message of a model step; '' for the default. */
  at: string
  /** JSON; '' for what is recorded. */
  result: string
  input: string
  model: string
  prompt: string
}

export const emptyFork: ForkDraft = { at: '', result: '', input: '', model: '', prompt: '' }

/** A group has no work of its own, and nothing would continue a task without an executor. */
export function canFork({ executor, group }: Pick<Task, 'executor' | 'group'>): boolean {
  return executor !== null && !group
}

export function isAgent(task: Pick<Task, 'goal'>, messages: readonly Message[]): boolean {
  return task.goal !== null || messages.some(({ step }) => step !== undefined)
}

/** The points at which the task can be forked, by id, in order. The first, with the id '', is the default. */
export function forkPoints(
  task: Pick<Task, 'goal' | 'status'>,
  calls: readonly Call[],
  messages: readonly Message[],
): Array<[id: string, label: string]> {
  const failed = task.status === 'failed'
  const usual = isAgent(task, messages)
    ? failed
      ? 'where it failed'
      : 'the last step of its model'
    : failed
      ? 'the call that failed'
      : 'the last completed call'
  const steps = messages
    .filter(({ step }) => step !== undefined)
    .map(({ id, content, timestamp }, index) => ({
      id,
      at: timestamp,
      label: `step ${index + 1}${content === '' ? '' : `: ${startOf(content.replaceAll(/\s+/g, ' '), 60)}`}`,
    }))
  // What a fork has taken over was made in no attempt of its own.
  const own = calls
    .filter(({ attempt }) => attempt > 0)
    .map(({ id, name, status, createdAt }, index) => ({
      id,
      at: createdAt,
      label: `call ${index + 1}: ${name} (${status})`,
    }))
  const points = [...steps, ...own].sort((a, b) => a.at - b.at)
  return [['', usual], ...points.map(({ id, label }): [string, string] => [id, label])]
}

/** The body of the request, or the errors of the form. */
export function forkBody(draft: ForkDraft): { body: Record<string, unknown> } | { wrong: Partial<ForkDraft> } {
  const body: Record<string, unknown> = {}
  const wrong: Partial<ForkDraft> = {}
  for (const field of ['at', 'model', 'prompt'] as const) {
    if (draft[field].trim() !== '') body[field] = draft[field].trim()
  }
  for (const field of ['result', 'input'] as const) {
    if (draft[field].trim() === '') continue
    const read = readJson(draft[field])
    if (read.ok) body[field] = read.value
    else wrong[field] = read.message
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { body }
}
