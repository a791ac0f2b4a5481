// Checks answers against the JSON Schema of their question. The schema is stored, so it is compiled from JSON again; zod does both.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { issuesIn, issueText, requireSync, safeParse, sentenceOf } from '../../core/parse.ts'
import { nextTurn } from '../../core/turns.ts'
import { maxSearchMs, withinTime } from '../../core/within-time.ts'
import { foreignSchema, zodFour } from '../../core/zod-schema.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { AnswerSchema } from '../../entities/executor.ts'
import type { QuestionParams } from '../../entities/question.ts'
import { requireFinite } from './finite-schema.ts'
import { requireKeywords } from './schema-keywords.ts'

/**
 * Returns the JSON Schema that is stored for a question.
 * @throws ErrandError INVALID_INPUT when the schema is not valid, refers to itself, or is too large.
 */
export function toAnswerSchema(schema: AnswerSchema | null | undefined): unknown {
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

/** Refuses a step before it has written: a match must be made first. `matchingOutside` makes it and runs the step again. */
class MatchNeeded extends Error {
  readonly match: () => void

  constructor(match: () => void) {
    super('An answer must be matched with its question outside of the step.')
    this.match = match
  }
}

/**
 * A value that may answer a question. It is matched with the schema of the question outside of any step, because a schema from outside may
 * take up to a second. The step uses the result if it meets the same question with the same schema, and is refused otherwise.
 */
export class GivenAnswer {
  readonly value: unknown
  #matched: { questionId: string; schema: string; problem: ErrandError | undefined } | undefined

  constructor(value: unknown) {
    this.value = value
  }

  /** Why the value does not answer the question; undefined if it does. Called in a step. @throws MatchNeeded */
  problemWith({
    id: questionId,
    taskId,
    params,
  }: Pick<CallRecord, 'id' | 'taskId' | 'params'>): ErrandError | undefined {
    const question = params as QuestionParams
    if (question.schema === undefined || question.schema === null) return undefined
    const schema = JSON.stringify(question.schema)
    const matched = this.#matched
    if (matched?.questionId === questionId && matched.schema === schema) return matched.problem
    throw new MatchNeeded(() => {
      this.#matched = { questionId, schema, problem: problemOf(taskId, question, this.value) }
    })
  }
}

/** Runs a step in which a `GivenAnswer` may have to be matched: as often as it meets another question than the one matched before. */
export async function matchingOutside<R>(attempt: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof MatchNeeded)) throw error
      // Several answers may each take the whole time.
      await nextTurn()
      error.match()
    }
  }
}

/** INVALID_ANSWER { taskId, issues } when the answer does not fit the schema; the question stays open. */
function problemOf(taskId: string, params: QuestionParams, value: unknown): ErrandError | undefined {
  const expected = withinTime(() => safeParse(z.fromJSONSchema(params.schema as never), value))
  // A model may have written the schema and its patterns.
  if (expected === undefined) return tooLong(taskId, params)
  const parsed = expected.value
  if (parsed.success) return undefined
  const issues = issuesIn(parsed.error)
  return new ErrandError(
    'INVALID_ANSWER',
    `This does not answer "${params.question}" (${taskId}): ${sentenceOf(issueText(issues))}`,
    { taskId, issues, schema: params.schema },
  )
}

function tooLong(taskId: string, { question, schema }: QuestionParams): ErrandError {
  return new ErrandError(
    'INVALID_ANSWER',
    `This answer to "${question}" (${taskId}) could not be checked within ${maxSearchMs} ms: a pattern in the schema of the question takes too long. Give a shorter answer, or cancel the task and create one that asks without that pattern.`,
    { taskId, schema },
  )
}
