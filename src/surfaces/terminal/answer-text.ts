// Parses the answer that a person typed: JSON if possible, otherwise text.

import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { type Issue, issueText, sentenceOf } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import { changeAs } from './as-person.ts'
import { cleanLine, firstLine } from './terminal-text.ts'

/** Answers the open question of a task, or the named one; without a text, with its default. */
export async function answerTask(
  engine: Engine,
  caller: Caller,
  task: Task,
  text: string | undefined,
  question?: string,
): Promise<Task> {
  const asked = task.questions.find(({ id }) => question === undefined || id === question)
  const value = text === undefined ? undefined : parseAnswer(text, asked?.schema)
  try {
    return await changeAs(engine, caller, 'task:answer', task, omitUndefined({ value, question }))
  } catch (error) {
    if (text === undefined || !ErrandError.isInstance(error) || error.code !== 'INVALID_ANSWER') throw error
    throw new ErrandError(error.code, refusalText(error, text, asked?.schema), error.details, error)
  }
}

/** `"maybe" is not valid: expected a boolean, got a string. Type one of: true, false.` */
export function refusalText(error: ErrandError, typed: string, schema: unknown): string {
  const issues = error.code === 'INVALID_ANSWER' ? error.details['issues'] : undefined
  if (!Array.isArray(issues)) return firstLine(error.message)
  return `"${cleanLine(typed)}" is not valid: ${sentenceOf(firstLine(issueText(issues as Issue[])))} ${answerHint(schema)}`
}

/** A question that expects text gets `2027`, `true` or `null` as text. */
export function parseAnswer(text: string, schema: unknown): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return expectsText(schema) && typeof value !== 'string' ? text : value
  } catch {
    return text // not JSON
  }
}

function expectsText(schema: unknown): boolean {
  const { enum: choices, type } = (schema ?? {}) as { enum?: unknown; type?: unknown }
  return type === 'string' || (Array.isArray(choices) && choices.every((choice) => typeof choice === 'string'))
}

/** The accepted answers, if the schema lists them. */
export function answerChoices(schema: unknown): string[] {
  const { enum: choices, type } = (schema ?? {}) as { enum?: unknown; type?: unknown }
  if (Array.isArray(choices)) return choices.map(String)
  return type === 'boolean' ? ['true', 'false'] : []
}

/** What a valid answer looks like, as a sentence: `Type one of: true, false.` */
export function answerHint(schema: unknown): string {
  const choices = answerChoices(schema)
  if (choices.length > 0) return `Type one of: ${cleanLine(choices.join(', '))}.`
  switch ((schema as { type?: unknown } | null)?.type) {
    case 'number':
      return 'Type a number.'
    case 'integer':
      return 'Type a whole number.'
    case 'array':
      return 'Type a JSON array, like ["a", "b"].'
    case 'object':
      return 'Type a JSON object, like {"name": "value"}.'
    default:
      return 'Type an answer.'
  }
}
