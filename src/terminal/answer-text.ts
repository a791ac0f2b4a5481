// Parses the answer that a person typed: JSON if possible, else a text.

import type { Caller } from '../bus/caller.ts'
import { defined } from '../core/defined.ts'
import type { Engine } from '../engine-api.ts'
import type { Task } from '../entities/task.ts'
import { changeAs } from './change-as.ts'

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
  return await changeAs(engine, caller, 'task:answer', task, defined({ value, question }))
}

/** A question that expects a text gets `2027`, `true` or `null` as a text. */
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
