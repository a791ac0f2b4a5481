// What every door does with what came from outside: zod judges it, and what does not fit is refused with an ErrandError that
// says where, and for an unknown key which one was probably meant.
import { z } from 'zod'
import { type Clock, systemClock } from './clock.ts'
import { ErrandError, nearestName } from './errors.ts'
import { checkText } from './json.ts'

/**
 * Parses what came from outside.
 * @throws ErrandError UNKNOWN_OPTION { path, option, nearest } for a key that is not offered, INVALID_INPUT { issues } else.
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  refuseHostileShape(value, what)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = maxTelling(parsed.error.issues)
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const option = issue.keys[0] as string
    const known = knownKeys(schema, issue.path)
    const nearest = nearestName(option, known)
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `${what}${path ? ` (at ${path})` : ''} has no option "${option}".${nearest ? ` Did you mean "${nearest}"?` : ''}${
        known.length > 0 ? ` It takes: ${known.join(', ')}.` : ''
      }`,
      { option, path, nearest, known },
    )
  }
  const issues = issuesIn(parsed.error)
  throw new ErrandError('INVALID_INPUT', `${what} is not valid: ${issueText(issues.slice(0, 3))}.`, { issues })
}

/** Where a value does not fit, and how. */
export interface Issue {
  path: string
  message: string
}

export function issuesIn(error: z.ZodError): Issue[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
}

export function issueText(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `${path ? `${path}: ` : ''}${message}`).join('; ')
}

/** Deepest nesting of `tasks`, the root included: far from where the recursion that parses them ends. */
export const deepestTasks = 128

/**
 * What zod must not be given: `tasks` so deep that the recursion would not come back. And what it would leave out of a record
 * without a word, a key `__proto__`; nothing that was given may be lost like that.
 */
function refuseHostileShape(given: unknown, what: string): void {
  const rest: Array<{ value: unknown; level: number }> = [{ value: given, level: 1 }]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, level } = next
    if (!isObject(value)) continue
    if (level > deepestTasks) {
      throw new ErrandError(
        'INVALID_INPUT',
        `${what} is not valid: its tasks are nested deeper than ${deepestTasks} levels. Create the deeper ones in a step of their own, with \`parentId\`.`,
        { deepest: deepestTasks },
      )
    }
    refusePrototypeKey(value['metadata'], 'metadata', what)
    const { tasks } = value
    refusePrototypeKey(tasks, 'tasks', what)
    if (isObject(tasks)) for (const child of Object.values(tasks)) rest.push({ value: child, level: level + 1 })
  }
}

function refusePrototypeKey(record: unknown, field: string, what: string): void {
  if (!isObject(record) || !Object.hasOwn(record, '__proto__')) return
  throw new ErrandError(
    'INVALID_INPUT',
    `${what} is not valid: ${field} has the key "__proto__", which could reach an object's prototype.`,
    { path: `${field}.__proto__` },
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function maxTelling(issues: z.core.$ZodIssue[]): z.core.$ZodIssue {
  return issues.find((issue) => issue.code === 'unrecognized_keys') ?? (issues[0] as z.core.$ZodIssue)
}

function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let current: z.ZodType | undefined = schema
  for (const step of path) {
    current = unwrap(current)
    if (current instanceof z.ZodObject) current = current.shape[String(step)] as z.ZodType | undefined
    else if (current instanceof z.ZodRecord) current = current.valueType as z.ZodType
    else if (current instanceof z.ZodArray) current = current.element as z.ZodType
    else return []
  }
  current = unwrap(current)
  return current instanceof z.ZodObject ? Object.keys(current.shape) : []
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let current = schema
  while (
    current instanceof z.ZodOptional ||
    current instanceof z.ZodDefault ||
    current instanceof z.ZodNullable ||
    current instanceof z.ZodReadonly ||
    current instanceof z.ZodLazy
  ) {
    current = current.unwrap() as z.ZodType
  }
  // What is only put into shape before it is judged.
  if (current instanceof z.ZodPipe && current.in instanceof z.ZodTransform) return unwrap(current.out as z.ZodType)
  return current
}

/**
 * A text that came from outside and that every database keeps.
 * @throws ErrandError INVALID_INPUT for what is no string, and for what `checkText` refuses.
 */
export function requireText(value: unknown, what: string): string {
  if (typeof value === 'string') return checkText(value, what)
  throw new ErrandError('INVALID_INPUT', `Expected ${what} to be a string, got ${kindOf(value)}.`, { what })
}

/** @throws ErrandError INVALID_INPUT for what is no function. */
export function requireFunction<F>(value: F, what: string): F {
  if (typeof value === 'function') return value
  throw new ErrandError('INVALID_INPUT', `Expected ${what} to be a function, got ${kindOf(value)}.`, { what })
}

/** `shape` says in the refusal what it takes and gives: `(error)`. */
export function functionOf<F>(shape: string) {
  return z.custom<F>((value) => typeof value === 'function', `expected a function ${shape}`)
}

export const clockSchema = z
  .custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function', 'expected a clock with `now`')
  .default(() => systemClock)

/** The type of a value in a word for people. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
