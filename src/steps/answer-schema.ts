// Checks answers against the JSON Schema of their question. The schema is stored, so it is compiled from JSON again; zod does both.
import { z } from 'zod'
import type { AnswerSchema } from '../api/executor.ts'
import { ErrandError } from '../core/errors.ts'
import { issuesIn, issueText, safeParse, sentenceOf } from '../core/parse.ts'
import { maxSearchMs, withinTime } from '../core/within-time.ts'
import type { QuestionParams } from '../entities/question.ts'

/** Returns the JSON Schema that is stored for a question. @throws ErrandError INVALID_INPUT when the schema is not valid. */
export function toAnswerSchema(schema: AnswerSchema | null | undefined): unknown {
  if (schema === null || schema === undefined) return null
  try {
    if (schema instanceof z.ZodType) return z.toJSONSchema(schema, { io: 'input' })
    z.fromJSONSchema(schema as never)
    return schema
  } catch (error) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The schema of a question must be a zod schema with a JSON Schema form, or a JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      {},
      error,
    )
  }
}

/** @throws ErrandError INVALID_ANSWER { taskId, issues } when the answer does not fit the schema; the question stays open. */
export function checkAnswer(taskId: string, params: QuestionParams, value: unknown): void {
  const parsed = judged(params.schema, value)
  if (parsed === undefined) throw tooLong(taskId, params)
  if (parsed.success) return
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    'INVALID_ANSWER',
    `This does not answer "${params.question}" (${taskId}): ${sentenceOf(issueText(issues))}`,
    { taskId, issues, schema: params.schema },
  )
}

export function fitsAnswer({ schema }: QuestionParams, value: unknown): boolean {
  if (schema === null || schema === undefined) return true
  return judged(schema, value)?.success ?? false
}

/** Undefined when the check takes too long: a model may have written the schema and its patterns. */
function judged(schema: unknown, value: unknown): z.ZodSafeParseResult<unknown> | undefined {
  const expected = z.fromJSONSchema(schema as never)
  return withinTime(() => safeParse(expected, value))?.value
}

function tooLong(taskId: string, { question, schema }: QuestionParams): ErrandError {
  return new ErrandError(
    'INVALID_ANSWER',
    `This answer to "${question}" (${taskId}) could not be checked within ${maxSearchMs} ms: a pattern in the schema of the question takes too long. Give a shorter answer, or cancel the task and create one that asks without that pattern.`,
    { taskId, schema },
  )
}
