// What a run has come to, in a form that does not depend on how often it was begun.

import { isDeepStrictEqual } from 'node:util'
import type { Engine } from '../engine/engine-api.ts'
import { type CallRecord, drawnValues } from '../entities/call.ts'
import type { Task } from '../entities/task.ts'

/** Where a task has run. */
export interface RanTask {
  ask<T>(question: (engine: Engine) => Promise<T>): Promise<T>
  journal(taskId: string): Promise<CallRecord[]>
}

/** The parts of a run that are compared. */
export type RunView = Record<string, unknown>

/**
 * The state of a task, what it has called, and how its children ended. Ids and values that the engine draws are replaced by their place in it:
 * after a crash, others are drawn. `calls` is undefined when one was interrupted: after that, a task may well call something else.
 */
export async function runView(test: RanTask, { id }: Task): Promise<RunView> {
  const [task, children] = await test.ask((engine) => Promise.all([engine.get(id), engine.children(id)]))
  const entries = await test.journal(id)
  const calls = entries.filter(({ kind }) => kind === 'call')
  const isInterrupted = calls.some(({ error }) => error?.code === 'CALL_INTERRUPTED')
  const view = {
    ...outcomeOf(task as Task),
    calls: isInterrupted
      ? undefined
      : calls.map(({ name, params, status, result }) => ({ name, params, status, result })),
    children: children.map((child) => ({ name: child.name, executor: child.executor, ...outcomeOf(child) })),
  }
  return withoutDrawn(view, entries)
}

const outcomeOf = ({ status, result, error, questions, progress }: Task) => ({
  status,
  result,
  error: error && { code: error.code, message: error.message },
  questions: questions.map(({ question }) => question),
  progress,
})

function withoutDrawn<T extends object>(view: T, entries: readonly CallRecord[]): T {
  const drawn = new Map<unknown, string>()
  for (const { kind, name, result } of entries)
    if (kind === 'value' && name !== 'now' && (drawnValues as readonly string[]).includes(name))
      drawn.set(result, `<${name} ${drawn.size + 1}>`)
  const ids = new Map<string, string>()
  const placeOf = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`)
    return ids.get(id) as string
  }
  const replaced = (value: unknown): unknown => {
    const known = drawn.get(value)
    if (known !== undefined) return known
    if (typeof value !== 'string') return value
    let text = value
    for (const [each, name] of drawn) if (typeof each === 'string') text = text.replaceAll(each, name)
    return text.replaceAll(/\b(?:task|call|ask|msg|request)-\d+\b/g, placeOf)
  }
  return JSON.parse(JSON.stringify(view, (_key, value: unknown) => replaced(value))) as T
}

/** The first part that differs. */
export const differingPart = (actual: RunView, expected: RunView): string | undefined =>
  Object.keys(expected).find(
    (part) => !isDeepStrictEqual(actual[part], expected[part]) && !(part === 'calls' && actual[part] === undefined),
  )
