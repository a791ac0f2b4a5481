// The question of a run to a person, and its public view while it is open.
import { z } from 'zod'
import { once } from '../core/once.ts'

/** Who may answer: people and programs only, or models too. */
export const audiences = ['person', 'anyone'] as const
export type Audience = (typeof audiences)[number]

export const questionSchema = once(() =>
  z.object({
    id: z.string(),
    question: z.string(),
    for: z.enum(audiences),
    schema: z.unknown(),
    default: z.unknown().optional(),
    askedAt: z.number(),
    dueAt: z.number().nullable(),
  }),
)

/** An open question of a task. */
export interface Question {
  /** Id of the journal entry; `answer(task, value, { question: id })` picks it among several. */
  id: string
  question: string
  /** Who may answer: `person` refuses models and their tools, `anyone` does not. */
  for: Audience
  /** JSON Schema of a valid answer; null when every answer is valid. */
  schema: unknown
  /** The answer after the time-out; absent when there is none. */
  default?: unknown
  askedAt: number
  /** When it times out; null when never. */
  dueAt: number | null
}

/** The params of a question's journal entry. */
export interface QuestionParams {
  question: string
  schema: unknown
  default?: unknown
  for: Audience
}

/** The public view of a question's journal entry. */
export function toQuestion(call: { id: string; params: unknown; createdAt: number; dueAt: number | null }): Question {
  const params = call.params as QuestionParams
  return {
    id: call.id,
    question: params.question,
    for: params.for,
    schema: params.schema ?? null,
    ...('default' in params ? { default: params.default } : {}),
    askedAt: call.createdAt,
    dueAt: call.dueAt,
  }
}
