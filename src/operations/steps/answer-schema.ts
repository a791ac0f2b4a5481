// Checks answers against the JSON Schema of their question, and payloads against that of the wait for their signal. The schema is stored, so it is compiled from JSON again; zod does both.
import { z } from 'zod'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { issuesIn, issueText, requireSync, safeParse, sentenceOf } from '../../core/parse.ts'
import { nextTurn } from '../../core/turns.ts'
import { maxSearchMs, withinTime } from '../../core/within-time.ts'
import { foreignSchema, zodFour } from '../../core/zod-schema.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { QuestionParams } from '../../entities/question.ts'
import type { SignalParams } from '../../entities/signal.ts'
import type { AnswerSchema } from '../../entities/wait-options.ts'

/**
 * Returns the JSON Schema that is stored for a question, or for a wait for a signal.
 * @throws ErrandError INVALID_INPUT when the schema is not valid, refers to itself, or is too large.
 */
export function toAnswerSchema(
  schema: AnswerSchema | null | undefined,
  of: 'question' | 'signal' = 'question',
): unknown {
  try {
    return questionSchema(schema)
  } catch (error) {
    if (of === 'question' || !ErrandError.isInstance(error)) throw error
    throw new ErrandError(error.code, error.message.replaceAll('a question', 'a signal'), error.details, error.cause)
  }
}

function questionSchema(schema: AnswerSchema | null | undefined): unknown {
  if (schema === null || schema === undefined) return null
  const foreign = foreignSchema(schema)
  if (foreign !== undefined) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question must be ${zodFour} or a JSON Schema, and this is ${foreign}.`,
      { schema: foreign },
    )
  }
  if (schema instanceof z.ZodType) requireSync(schema, 'The schema of a question')
  try {
    const stored =
      schema instanceof z.ZodType ? z.toJSONSchema(schema, { io: 'input', override: withoutDefault }) : schema
    // In a schema that zod has written, keywords of `.meta()` may stand.
    requireFinite(stored, stored === schema ? requireKeywords : undefined)
    if (stored === schema) z.fromJSONSchema(schema as never)
    return stored
  } catch (error) {
    if (ErrandError.isInstance(error)) throw error
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question must be a zod schema with a JSON Schema form, or a JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      {},
      error,
    )
  }
}

/** A default may be drawn anew in each run, and the schema is part of the question's identity. */
function withoutDefault({ jsonSchema }: { jsonSchema: { default?: unknown } }): void {
  delete jsonSchema.default
}

/** Whether the step will make a task ready, which may start in the same commit. */
type Wakes = boolean

/**
 * Refuses a step before it has written: work must be done first that does not belong into a transaction, such as matching an answer with its
 * schema. `matchingOutside` does it and runs the step again.
 */
export class WorkNeeded extends Error {
  readonly work: () => Wakes

  constructor(work: () => Wakes) {
    super('Work must be done outside of the step, which is repeated after it.')
    this.work = work
  }
}

type Matched = Pick<CallRecord, 'id' | 'taskId' | 'kind' | 'name' | 'params'>

/**
 * A value that may answer a question, or end a wait for a signal. It is matched with the schema of the entry outside of any step, because a
 * schema from outside may take up to a second. The step uses the result if it meets the same entry with the same schema, and is refused otherwise.
 */
export class GivenAnswer {
  readonly value: unknown
  #matched: { entryId: string; schema: string; problem: ErrandError | undefined } | undefined

  constructor(value: unknown) {
    this.value = value
  }

  /** Why the value does not fit the question or the wait; undefined if it does. Called in a step. @throws WorkNeeded */
  problemWith(entry: Matched): ErrandError | undefined {
    const stored = (entry.params as SignalParams | QuestionParams).schema
    if (stored === undefined || stored === null) return undefined
    const schema = JSON.stringify(stored)
    const matched = this.#matched
    if (matched?.entryId === entry.id && matched.schema === schema) return matched.problem
    throw new WorkNeeded(() => {
      this.#matched = { entryId: entry.id, schema, problem: problemOf(entry, stored, this.value) }
      return false
    })
  }
}

/** Runs a step in which a `GivenAnswer` may have to be matched: as often as it meets another question than the one matched before. */
export async function matchingOutside<R>(attempt: (wakes: Wakes) => Promise<R>): Promise<R> {
  for (let wakes = false; ; ) {
    try {
      return await attempt(wakes)
    } catch (error) {
      if (!(error instanceof WorkNeeded)) throw error
      // Several answers may each take the whole time.
      await nextTurn()
      wakes = error.work()
    }
  }
}

/** INVALID_ANSWER or INVALID_SIGNAL { taskId, issues } when the value does not fit the schema; the question or the wait stays open. */
function problemOf(entry: Matched, schema: unknown, value: unknown): ErrandError | undefined {
  const { taskId, kind, name } = entry
  const { question } = entry.params as QuestionParams
  const code = kind === 'signal' ? 'INVALID_SIGNAL' : 'INVALID_ANSWER'
  const expected = withinTime(() => safeParse(z.fromJSONSchema(schema as never), value))
  // A model may have written the schema and its patterns.
  if (expected === undefined) {
    const late =
      kind === 'signal'
        ? `This payload of the signal "${name}" (${taskId}) could not be checked within ${maxSearchMs} ms: a pattern in the schema of the wait takes too long. Send a shorter one, or let the task wait without that pattern.`
        : `This answer to "${question}" (${taskId}) could not be checked within ${maxSearchMs} ms: a pattern in the schema of the question takes too long. Give a shorter answer, or cancel the task and create one that asks without that pattern.`
    return new ErrandError(code, late, { taskId, schema })
  }
  const parsed = expected.value
  if (parsed.success) return undefined
  const issues = issuesIn(parsed.error)
  const what =
    kind === 'signal'
      ? `This payload does not match the schema with which ${taskId} waits for the signal "${name}"`
      : `This does not answer "${question}" (${taskId})`
  return new ErrandError(code, `${what}: ${sentenceOf(issueText(issues))}`, { taskId, issues, schema })
}

// Refuses schemas of questions whose check may take any time: those that refer to themselves, and those whose references multiply. A value
// is compared with each place of a schema, and a place that is referred to counts as often as it is reached.

/** The maximum of places in a schema with its references replaced, and of one inside the other. */
const maxPlaces = 10_000
const maxDepth = 100

/** Keywords whose value is a schema or a list of schemas, and those whose values are. Others hold data, in which `$ref` means nothing. */
const schemaKeywords = (
  'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames ' +
  'allOf anyOf oneOf not if then else'
).split(' ')
const mapKeywords = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies']

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/**
 * `judge` is called with each schema inside the schema.
 * @throws ErrandError INVALID_INPUT { path }
 */
function requireFinite(schema: unknown, judge: (place: Json, path: string) => void = () => {}): void {
  if (!isObject(schema)) return
  if (Array.isArray(schema)) {
    throw new ErrandError(
      'INVALID_INPUT',
      'The schema of a question is a list. Give one schema, such as an object with `type`.',
      {
        path: '',
      },
    )
  }
  const root = schema
  /** The places of each schema, once they are known; 0 while they are counted. */
  const known = new Map<object, number>()
  const countAt = (place: unknown, path: string, depth: number): number => {
    if (!isObject(place)) return 1
    const found = known.get(place)
    if (found === 0) throw recursive(path)
    if (found !== undefined) return found
    if (depth > maxDepth) throw tooLarge(path, `it is nested deeper than ${maxDepth} levels`)
    known.set(place, 0)
    if (!Array.isArray(place)) judge(place, path)
    let places = 1
    for (const [name, inner] of partsOf(root, place)) {
      places += countAt(inner, path === '' ? name : `${path}.${name}`, depth + 1)
    }
    if (places > maxPlaces) throw tooLarge(path, `with its references replaced it has more than ${maxPlaces} places`)
    known.set(place, places)
    return places
  }
  countAt(root, '', 0)
}

/** The schemas inside one, and the one that it refers to. */
function partsOf(root: Json, place: Json): Array<[string, unknown]> {
  if (Array.isArray(place)) return place.map((inner, at) => [String(at), inner])
  const parts: Array<[string, unknown]> = schemaKeywords.flatMap((name) => (name in place ? [[name, place[name]]] : []))
  for (const name of mapKeywords) {
    if (!isObject(place[name])) continue
    for (const [key, inner] of Object.entries(place[name])) parts.push([`${name}.${key}`, inner])
  }
  const ref = place['$ref']
  return typeof ref === 'string' ? [...parts, [ref, targetOf(root, ref)]] : parts
}

/**
 * The definition that a reference names. The conversion of a schema takes the first two names of a reference and ignores the others, and takes what
 * all objects have (`constructor`) for a definition, so both are refused here.
 */
function targetOf(root: Json, ref: string): unknown {
  const [definitions, name, ...rest] = ref.replace(/^#/, '').split('/').filter(Boolean)
  if (definitions === undefined) return root
  const named = root[definitions]
  if (rest.length > 0 || !isObject(named) || name === undefined || !Object.hasOwn(named, name))
    throw notADefinition(ref)
  return named[name]
}

function recursive(path: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question may not refer to itself, as it does at ${path}: the check of an answer would have no limit. Write out the levels that an answer may have, or leave the inner part open with {} and check it in the executor.`,
    { path },
  )
}

function notADefinition(ref: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question refers to ${ref}, which is no definition of it. A reference names one as a whole, like #/$defs/name.`,
    { path: ref },
  )
}

function tooLarge(path: string, why: string): ErrandError {
  return new ErrandError(
    'INVALID_INPUT',
    `The schema of a question is too large at ${path === '' ? 'its root' : path}: ${why}. Ask for a simpler value, and check it in the executor.`,
    { path },
  )
}

// Refuses misspelled JSON Schemas of questions. An unknown keyword is ignored, and the question would accept any answer.

/** Of all drafts, and of OpenAPI. */
const keywords = new Set(
  (
    '$schema $id id $anchor $ref $defs definitions $comment $dynamicAnchor $recursiveAnchor $vocabulary ' +
    'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum ' +
    'maxLength minLength pattern format contentEncoding contentMediaType contentSchema ' +
    'items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems ' +
    'properties patternProperties additionalProperties unevaluatedProperties propertyNames required minProperties maxProperties ' +
    'dependentRequired dependentSchemas dependencies allOf anyOf oneOf not if then else ' +
    'title description default examples example deprecated readOnly writeOnly nullable discriminator xml externalDocs'
  ).split(' '),
)

/** Answers cannot be checked with them. */
const unsupported = ['$dynamicRef', '$recursiveRef']

const types = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/** @throws ErrandError INVALID_INPUT { path, keyword or type, nearest } */
function requireKeywords(schema: Readonly<Record<string, unknown>>, path: string): void {
  const where = path === '' ? '' : ` at ${path}`
  for (const keyword of Object.keys(schema)) {
    if (keywords.has(keyword) || keyword.startsWith('x-')) continue
    if (unsupported.includes(keyword)) {
      const message = `The schema of a question has "${keyword}"${where}, which is not supported. Use $ref with a definition in $defs.`
      throw new ErrandError('INVALID_INPUT', message, { path, keyword })
    }
    const nearest = nearestName(keyword, keywords)
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question has "${keyword}"${where}, which is no keyword of JSON Schema.${didYouMean(nearest)} Names of your own begin with "x-".`,
      { path, keyword, nearest },
    )
  }
  for (const type of [schema['type'] ?? []].flat()) {
    if (types.includes(type as string)) continue
    const nearest = typeof type === 'string' ? nearestName(type, types) : undefined
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question has the type ${JSON.stringify(type)}${where}, which does not exist.${didYouMean(nearest)} JSON Schema has: ${types.join(', ')}.`,
      { path, type, nearest },
    )
  }
}
