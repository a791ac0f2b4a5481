// Validation with zod: of options, and of input that has passed the gate (input-gate.ts). An error names the path of the invalid value, and for an unknown key the
// nearest known one.
import { types } from 'node:util'
import { z } from 'zod'
import { type Clock, systemClock } from './clock.ts'
import { ErrandError, nearestName } from './errors.ts'
import { explainIssue, innermostIssue } from './explain-issue.ts'
import { checkText, lossIn, maxJsonLength } from './json.ts'
import { storableText } from './storable-text.ts'
import { typeName } from './type-name.ts'
import { unfitPart } from './zod-schema.ts'

/** A schema, or a function that makes it when it is first used: a hundred schemas take longer to make than to load. */
export type Schema<T> = z.ZodType<T> | (() => z.ZodType<T>)

/**
 * Parses a value. `what` names it in messages. `elsewhere`: for names that an option has in other systems, its name here, or a sentence about what
 * there is in its place.
 * @throws ErrandError UNKNOWN_OPTION { path, option, nearest } for an unknown key, INVALID_INPUT { issues } otherwise.
 */
export function parse<T>(
  given: Schema<T>,
  value: unknown,
  what: string,
  elsewhere: Readonly<Record<string, string>> = {},
): T {
  const schema = typeof given === 'function' ? given() : given
  const parsed = safeParse(schema, value)
  if (parsed.success) return parsed.data
  const issue = firstToReport(parsed.error.issues)
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const option = issue.keys[0] as string
    const known = knownKeys(schema, issue.path)
    const absent = absentKeys(parsed.error.issues, issue.path, value)
    const meant = Object.hasOwn(elsewhere, option) ? (elsewhere[option] as string) : undefined
    const isHere = meant !== undefined && known.includes(meant)
    // A name that is one of the whole says nothing about a part of it.
    const isSentence = meant !== undefined && !isHere && !knownKeys(schema, []).includes(meant)
    const nearest = isHere ? meant : (nearestName(option, known) ?? (absent.length === 1 ? absent[0] : undefined))
    const hint = isSentence ? ` ${meant}` : nearest ? ` Did you mean "${nearest}"?` : ''
    throw new ErrandError(
      'UNKNOWN_OPTION',
      `${what}${path ? ` (at ${path})` : ''} has no option "${option}".${hint}${
        known.length > 0 ? ` It takes: ${known.join(', ')}.` : ''
      }`,
      { option, path, nearest, known },
    )
  }
  const issues = issuesIn(parsed.error)
  throw new ErrandError('INVALID_INPUT', `${what} is not valid: ${sentenceOf(issueText(issues.slice(0, 3)))}`, {
    issues,
  })
}

/**
 * zod's `safeParse`, with messages that name the accepted values and the nearest.
 * @throws ErrandError INVALID_INPUT for a schema that turns out to be asynchronous.
 */
export function safeParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(value, { error: explainIssue })
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) throw asyncSchema('A schema')
    throw error
  }
}

const asyncSchemas = new WeakSet<ErrandError>()

function asyncSchema(what: string): ErrandError {
  const error = new ErrandError(
    'INVALID_INPUT',
    `${what} has an asynchronous refinement or transform, and schemas are applied synchronously. Make this check where the value is used, for example in the executor.`,
    { what },
  )
  asyncSchemas.add(error)
  return error
}

/** True for the refusal of a schema that is asynchronous. */
export function isAsyncSchema(error: unknown): error is ErrandError {
  return ErrandError.isInstance(error) && asyncSchemas.has(error)
}

/**
 * Returns a schema, or undefined.
 * @throws ErrandError INVALID_INPUT when a refinement or a transform in it is an async function. A function that only returns a promise
 *   is found when the schema is applied.
 */
export function requireSync<S extends z.ZodType | undefined>(schema: S, what: string): S {
  if (schema === undefined || syncSchemas.has(schema)) return schema
  if (holdsAsync(schema, new Set())) throw asyncSchema(what)
  syncSchemas.add(schema)
  return schema
}

/**
 * Requires a schema for values that come as JSON.
 * @throws ErrandError INVALID_INPUT { path } when a part of it fits no JSON value, and as `requireSync`.
 */
export function requireJsonInput<S extends z.ZodType | undefined>(schema: S, what: string): S {
  requireSync(schema, what)
  if (schema === undefined || jsonSchemas.has(schema)) return schema
  const unfit = unfitPart(schema)
  if (unfit !== undefined) {
    const at = unfit.path.length === 0 ? '' : ` at ${unfit.path.join('.')}`
    throw new ErrandError(
      'INVALID_INPUT',
      `${what} has a ${unfit.type}${at}, which no JSON value fits, so nothing could ever be given for it. Write ${unfit.instead}.`,
      { path: unfit.path, type: unfit.type },
    )
  }
  jsonSchemas.add(schema)
  return schema
}

const jsonSchemas = new WeakSet<z.ZodType>()

/** Engines share the schemas of their own abilities. */
const syncSchemas = new WeakSet<z.ZodType>()

/** Walks the definitions of a schema: other schemas, checks and functions in them. */
function holdsAsync(given: unknown, seen: Set<unknown>): boolean {
  if (typeof given === 'function') return types.isAsyncFunction(given)
  if (!isObject(given) || seen.has(given)) return false
  seen.add(given)
  const def = (given['_zod'] as { def?: unknown } | undefined)?.def
  if (isObject(def)) return Object.entries(def).some(([key, inner]) => !lazyParts.has(key) && holdsAsync(inner, seen))
  const isPlain = Array.isArray(given) || Object.getPrototypeOf(given) === Object.prototype
  return isPlain && Object.values(given).some((inner) => holdsAsync(inner, seen))
}

/** Reading these runs a function of the user. */
const lazyParts = new Set(['getter', 'defaultValue', 'catchValue'])

/** Where a value is invalid, and why. */
export interface Issue {
  path: string
  message: string
}

export function issuesIn(error: z.ZodError): Issue[] {
  return error.issues.map(innermostIssue).map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
}

export function issueText(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `${path ? `${path}: ` : ''}${message}`).join('; ')
}

/** A message with a full stop, unless it ends a sentence already. */
export function sentenceOf(message: string): string {
  return /[.?!]$/.test(message.trim()) ? message.trim() : `${message.trim()}.`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function firstToReport(issues: z.core.$ZodIssue[]): z.core.$ZodIssue {
  return issues.find((issue) => issue.code === 'unrecognized_keys') ?? (issues[0] as z.core.$ZodIssue)
}

/** The required keys that are missing beside an unknown one, which may be meant for them. */
function absentKeys(issues: z.core.$ZodIssue[], path: readonly PropertyKey[], value: unknown): string[] {
  let holder = value
  for (const step of path) holder = isObject(holder) ? holder[String(step)] : undefined
  return issues.flatMap(({ path: at }) => {
    const key = at.at(-1)
    const isBeside = at.length === path.length + 1 && path.every((step, index) => step === at[index])
    return isBeside && isObject(holder) && !Object.hasOwn(holder, key as PropertyKey) ? [String(key)] : []
  })
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
  // A preprocessed schema: the keys are those of its output.
  if (current instanceof z.ZodPipe && current.in instanceof z.ZodTransform) return unwrap(current.out as z.ZodType)
  return current
}

/**
 * A text from outside that every database keeps.
 * @throws ErrandError INVALID_INPUT for a value that is not a string, and for a string that `checkText` refuses.
 */
export function requireText(value: unknown, what: string): string {
  if (typeof value === 'string') return checkText(value, what)
  throw new ErrandError('INVALID_INPUT', `Expected ${what} to be a string, got ${typeName(value)}.`, { what })
}

/**
 * A text for people from outside: what no database keeps of it is mended.
 * @throws ErrandError INVALID_INPUT for a value that is not a string, and for too many characters.
 */
export function requireSpokenText(value: unknown, what: string): string {
  return requireText(typeof value === 'string' ? storableText(value) : value, what)
}

/** The schema of a text that may be long: at most as long as a stored value. */
export function longText(): z.ZodString {
  return z.string().refine((text) => text.length <= maxJsonLength, {
    error: ({ input }) => `it has ${String(input).length} characters, at most ${maxJsonLength} are kept`,
  })
}

/** The schema of a text for people: mended like that of `requireSpokenText`. */
export function spokenText(): z.ZodString {
  return longText().overwrite(storableText)
}

/** An object of JSON with any keys. A record of zod would drop `__proto__`. */
export function anyObject(): z.ZodType<Record<string, unknown>, Record<string, unknown>> {
  return z
    .unknown()
    .refine((value) => isObject(value) && !Array.isArray(value), 'expected an object')
    .meta({ type: 'object', additionalProperties: {} }) as unknown as ReturnType<typeof anyObject>
}

/** Such an object of which JSON carries all. */
export function anyJsonObject(): ReturnType<typeof anyObject> {
  return anyObject().refine((value) => lossIn(value) === undefined, 'expected JSON')
}

/** @throws ErrandError INVALID_INPUT for a value that is not a function. */
export function requireFunction<F>(value: F, what: string): F {
  if (typeof value === 'function') return value
  throw new ErrandError('INVALID_INPUT', `Expected ${what} to be a function, got ${typeName(value)}.`, { what })
}

/** A schema for a function; `shape` describes it in the error message: `(error)`. */
export function functionOf<F>(shape: string) {
  return z.custom<F>((value) => typeof value === 'function', `expected a function ${shape}`)
}

export const clockSchema = z
  .custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function', 'expected a clock with `now`')
  .default(() => systemClock)
