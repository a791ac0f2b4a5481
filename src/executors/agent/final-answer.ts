// The last word of an agent as the task's result: its text, or the JSON that a schema asks for.
import type { ZodType } from 'zod'
import { issuesIn, issueWords } from '../../parse.ts'

export type AnswerVerdict = { fits: true; result: unknown } | { fits: false; complaint: string }

/** What does not fit goes back to the model with what is wrong. */
export function judgeAnswer(content: string, schema: ZodType | undefined): AnswerVerdict {
  if (schema === undefined) return { fits: true, result: content }
  const candidates = [content, /```(?:json)?\s*\n([\s\S]*?)\n?```/.exec(content)?.[1]]
  let problem = 'it is not JSON'
  for (const text of candidates) {
    const value = text === undefined ? undefined : readJson(text)
    if (value === undefined) continue
    const parsed = schema.safeParse(value.json)
    // Checked again, and parsed, when the run's result is taken.
    if (parsed.success) return { fits: true, result: value.json }
    problem = issueWords(issuesIn(parsed.error))
  }
  return {
    fits: false,
    complaint: `Your answer cannot be used: ${problem}. Answer again with nothing but JSON that fits the schema.`,
  }
}

function readJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
