// Answers against the JSON Schema of their question. The schema is stored, so it is compiled from JSON again; zod does both.
import { z } from 'zod'
import type { QuestionParams } from '../entities/question.ts'
import { ErrandError } from '../errors.ts'
import type { AnswerSchema } from '../executor.ts'
import { issuesIn, issueWords } from '../parse.ts'

/** The JSON Schema that is stored for a question. @throws ErrandError INVALID_INPUT when it is not one. */
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

/** @throws ErrandError INVALID_ANSWER { taskId, issues } when the answer does not fit; the question stays open. */
export function checkAnswer(taskId: string, params: QuestionParams, value: unknown): void {
  const parsed = z.fromJSONSchema(params.schema as never).safeParse(value)
  if (parsed.success) return
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    'INVALID_ANSWER',
    `This does not answer "${params.question}" (${taskId}): ${issueWords(issues)}.`,
    { taskId, issues, schema: params.schema },
  )
}

/** Is this a valid answer? */
export function fitsAnswer({ schema }: QuestionParams, value: unknown): boolean {
  return schema === null || schema === undefined || z.fromJSONSchema(schema as never).safeParse(value).success
}
