// Answers of abilities as results of tools. A refusal is a result like any other, so that the model reads it; it carries a code, a
// message and details, and nothing of how or where this server runs.
import { type PublicError, publicError } from '../../web/public-error.ts'

export interface ToolResult {
  content: Array<{ type: 'text'; text: string }>
  /** What the ability gave. Not with an error: clients hold it against the tool's output schema. */
  structuredContent?: unknown
  isError?: true
  [key: string]: unknown
}

/** The JSON image of an answer, as data and as text; `note` is for the model alone. */
export function answerResult(output: unknown, note?: string): ToolResult {
  const text = JSON.stringify(output) ?? 'null'
  return {
    content: [text, ...(note === undefined ? [] : [note])].map((each) => ({ type: 'text', text: each })),
    structuredContent: JSON.parse(text) as unknown,
  }
}

export function errorResult(thrown: unknown): ToolResult {
  return failureResult(publicError(thrown))
}

export function failureResult(error: PublicError): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true }
}
