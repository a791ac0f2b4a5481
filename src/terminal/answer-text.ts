// What a person typed as an answer: JSON where it can be read as such, else the words as they are.

import type { Caller } from '../bus/caller.ts'
import { defined } from '../core/defined.ts'
import type { Engine } from '../engine-api.ts'
import type { Task } from '../entities/task.ts'
import { changeAs } from './change-as.ts'

/** Answers the open question of a task, or the one that is named; without a text its default answers. */
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

/** A question for a text gets the words themselves where they happen to be JSON of another kind: `2027`, `true`, `null`. */
export function parseAnswer(text: string, schema: unknown): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return asksForText(schema) && typeof value !== 'string' ? text : value
  } catch {
    return text // not JSON: then it is what it says
  }
}

function asksForText(schema: unknown): boolean {
  const { enum: choices, type } = (schema ?? {}) as { enum?: unknown; type?: unknown }
  return type === 'string' || (Array.isArray(choices) && choices.every((choice) => typeof choice === 'string'))
}

/** The answers that a question would take, if it names them. */
export function answerChoices(schema: unknown): string[] {
  const { enum: choices, type } = (schema ?? {}) as { enum?: unknown; type?: unknown }
  if (Array.isArray(choices)) return choices.map(String)
  return type === 'boolean' ? ['true', 'false'] : []
}
