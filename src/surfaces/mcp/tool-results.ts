// Converts outputs of abilities to tool results. A refusal is also a result, so that the model reads it: a code, a message and details,
// without internals of the server.
import { type PublicError, publicError } from '../web/public-error.ts'

export interface ToolResult {
  content: Array<{ type: 'text'; text: string }>
  /** The output of the ability. Absent for errors, because clients validate it against the tool's output schema. */
  structuredContent?: unknown
  isError?: true
  [key: string]: unknown
}

/** The output as JSON, as data and as text; `note` is an additional text for the model. */
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
