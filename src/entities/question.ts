// The question: what a run asks a person, as people see it while it is open.
import { z } from 'zod'

export const questionSchema = z.object({
  id: z.string(),
  question: z.string(),
  schema: z.unknown(),
  default: z.unknown().optional(),
  askedAt: z.number(),
  dueAt: z.number().nullable(),
})

/** An open question of a task. */
export interface Question {
  /** Id of the journal entry; `answer(task, value, { question: id })` picks it among several. */
  id: string
  question: string
  /** JSON Schema of a valid answer; null when anything is. */
  schema: unknown
  /** What answers it when nobody does; absent when there is none. */
  default?: unknown
  askedAt: number
  /** When it times out; null when never. */
  dueAt: number | null
}

/** What a question stores as its params. */
export interface QuestionParams {
  question: string
  schema: unknown
  default?: unknown
  /** No model may answer it. */
  personOnly?: true
}

/** What people see of a question's journal entry. */
export function toQuestion(call: { id: string; params: unknown; createdAt: number; dueAt: number | null }): Question {
  const params = call.params as QuestionParams
  return {
    id: call.id,
    question: params.question,
    schema: params.schema ?? null,
    ...('default' in params ? { default: params.default } : {}),
    askedAt: call.createdAt,
    dueAt: call.dueAt,
  }
}
