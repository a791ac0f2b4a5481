// Validates what an executor passes to `run.*`, before anything of it is recorded. Calls are many and most have no
// options, so absent options cost nothing.

import { durationForms, maxDurationMs } from '../core/duration.ts'
import { durationSchema } from '../core/duration-schema.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import { checkText } from '../core/json.ts'
import { parse, requireText, type Schema } from '../core/parse.ts'
import { startOf } from '../core/storable-text.ts'
import { typeName } from '../core/type-name.ts'
import type { CallOptions, Parsed } from '../entities/call-options.ts'
import { messageRoles } from '../entities/message.ts'
import { callOptionsSchema } from '../entities/options.ts'
import type { CallFunction } from './perform-call.ts'

const none = Object.freeze({})

/**
 * Returns the parsed options, in which an absent key still differs from one set to undefined.
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT.
 */
export function checkOptions<T extends object>(
  schema: Schema<unknown>,
  options: T | undefined,
  what: string,
): Parsed<T> {
  if (options === undefined) return none as Parsed<T>
  return parse(schema, options, what) as Parsed<T>
}

/** The arguments after the name; params are optional. */
export function callArguments(name: unknown, rest: readonly unknown[]) {
  requireText(name, 'the name of a call')
  const [params, fn, options] = typeof rest[0] === 'function' ? [undefined, ...rest] : rest
  if (typeof fn !== 'function') {
    throw new ErrandError(
      'INVALID_INPUT',
      `run.call("${String(name)}") expects a function to call, got ${typeName(fn)}. Its arguments are (name, fn, options?) or (name, params, fn, options?).`,
      { name },
    )
  }
  return {
    params,
    fn: fn as CallFunction,
    options: checkOptions(callOptionsSchema, options as CallOptions | undefined, 'run.call'),
  }
}

/** The ids of the tasks to wait for. */
export function awaitedIds(tasks: unknown): string[] {
  return (Array.isArray(tasks) ? (tasks as unknown[]) : [tasks]).map((each) => {
    const id = typeof each === 'string' ? each : (each as { id?: unknown } | null | undefined)?.id
    if (typeof id === 'string') return checkText(id, 'the task id')
    throw new ErrandError('INVALID_INPUT', `run.wait expects tasks or task ids, got ${typeName(each)}.`, {})
  })
}

export function checkMessage(role: unknown, content: unknown): void {
  if (!(messageRoles as readonly unknown[]).includes(role)) {
    const nearest = typeof role === 'string' ? nearestName(role, messageRoles) : undefined
    throw new ErrandError(
      'INVALID_INPUT',
      `Unknown message role ${JSON.stringify(role) ?? typeName(role)}.${nearest ? ` Did you mean "${nearest}"?` : ''} The roles are: ${messageRoles.join(', ')}.`,
      { role, nearest, known: [...messageRoles] },
    )
  }
  if (typeof content === 'string') return
  const { [Symbol.asyncIterator]: tokens, [Symbol.iterator]: texts } = Object(content) as Record<symbol, unknown>
  if (typeof tokens === 'function' || typeof texts === 'function') return
  throw new ErrandError(
    'INVALID_INPUT',
    `The content of a message must be a string or an iterable of tokens, got ${typeName(content)}.`,
    {},
  )
}

/** Whole milliseconds, as `durationSchema` makes them. */
export function requireDuration(ms: unknown): number {
  const parsed = durationSchema().safeParse(ms)
  if (parsed.success) return parsed.data
  throw new ErrandError(
    'INVALID_INPUT',
    `run.sleep expects milliseconds, from 0 to ${maxDurationMs}, or a duration like ${durationForms}, got ${typeof ms === 'number' ? ms : typeof ms === 'string' ? JSON.stringify(startOf(ms, 60)) : typeName(ms)}.`,
    { ms },
  )
}

export function checkFraction(fraction: unknown): void {
  if (typeof fraction === 'number' && fraction >= 0 && fraction <= 1) return
  throw new ErrandError(
    'INVALID_INPUT',
    `run.progress expects a fraction between 0 and 1, got ${typeof fraction === 'number' ? fraction : typeName(fraction)}.`,
    { fraction },
  )
}

export function checkRelease(release: unknown): void {
  if (typeof release === 'function') return
  throw new ErrandError('INVALID_INPUT', `run.onSuspend expects a function to call, got ${typeName(release)}.`, {})
}
