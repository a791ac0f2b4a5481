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
 * The state of a task, what it has called, how its children ended, and `effects`. Ids and values that the engine draws are replaced by their place
 * in it: after a crash, others are drawn. `calls` is undefined when one was interrupted: after that, a task may well call something else.
 */
export async function runView(test: RanTask, { id }: Task, effects: unknown): Promise<RunView> {
  const [task, children] = await test.ask((engine) => Promise.all([engine.get(id), engine.children(id)]))
  const entries = await test.journal(id)
  const calls = entries.filter(({ kind }) => kind === 'call')
  const isInterrupted = calls.some(({ error }) => error?.code === 'CALL_INTERRUPTED')
  const view = {
    ...outcomeOf(task as Task),
    children: children.map((child) => ({ name: child.name, executor: child.executor, ...outcomeOf(child) })),
    effects,
    // The last part, so that the places of ids in the others are the same without it.
    calls: isInterrupted
      ? undefined
      : calls.map(({ name, params, status, result }) => ({ name, params, status, result })),
  }
  return withoutDrawn(view, [...entries, ...(await journalsBelow(test, id))])
}

/** What the children of a task have drawn is in their results, and so in its own. */
async function journalsBelow(test: RanTask, taskId: string): Promise<CallRecord[]> {
  const children = await test.ask((engine) => engine.children(taskId))
  const journals = children.map(async ({ id }) => [await test.journal(id), await journalsBelow(test, id)])
  return (await Promise.all(journals)).flat(2)
}

const outcomeOf = ({ status, result, error, questions, progress }: Task) => ({
  status,
  result,
  error: error && { code: error.code, message: error.message },
  questions: questions.map(({ question }) => question),
  progress,
})

function withoutDrawn(view: RunView, entries: readonly CallRecord[]): RunView {
  const drawn = new Map<unknown, string>()
  for (const { kind, name, result } of entries)
    if (kind === 'value' && (drawnValues as readonly string[]).includes(name) && !drawn.has(result))
      drawn.set(result, `<${name} ${drawn.size + 1}>`)
  const ids = new Map<string, string>()
  const placeOf = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`)
    return ids.get(id) as string
  }
  return replacedIn(view, (value) => {
    const known = drawn.get(value)
    if (known !== undefined) return known
    if (typeof value !== 'string') return value
    let text = value
    for (const [each, name] of drawn) if (typeof each === 'string') text = text.replaceAll(each, name)
    return text.replaceAll(/\b(?:task|call|ask|msg|request)-\d+\b/g, placeOf)
  }) as RunView
}

/** A copy of plain data, maps and sets, with other texts and numbers. */
function replacedIn(value: unknown, replace: (value: unknown) => unknown): unknown {
  const inside = (each: unknown): unknown => replacedIn(each, replace)
  if (Array.isArray(value)) return value.map(inside)
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [inside(key), inside(each)]))
  if (value instanceof Set) return new Set([...value].map(inside))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return replace(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [replace(key), inside(each)]))
}

/** The first part that differs. */
export const differingPart = (actual: RunView, expected: RunView): string | undefined =>
  Object.keys(expected).find(
    (part) => !isDeepStrictEqual(actual[part], expected[part]) && !(part === 'calls' && actual[part] === undefined),
  )
