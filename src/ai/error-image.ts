// An error as a repeated run meets it again. The AI SDK asks of an error what it is called, whether it may be retried and when,
// and recognises its own by symbols; its text goes into the conversation. All of that survives; stacks, causes and the request
// that was sent (a whole conversation, with whatever is secret in it) do not.
import { ErrandError, type ErrorCode } from '../errors.ts'

interface ErrorImage {
  name: string
  message: string
  /** By what the AI SDK recognises its errors, whichever copy of the package made them. */
  marks: string[]
  fields: Record<string, unknown>
  /** Set for an error of this engine. */
  code?: ErrorCode
}

const markPrefix = 'vercel.ai.'

/** What the AI SDK's own errors carry that decides how a loop goes on. */
const keptFields = [
  'code',
  'data',
  'errors',
  'isRetryable',
  'lastError',
  'reason',
  'responseBody',
  'responseHeaders',
  'statusCode',
  'toolInput',
  'toolName',
  'url',
] as const

export function imageOfError(error: Error): ErrorImage {
  const { name, message } = error
  if (ErrandError.isInstance(error)) {
    return { name, message, marks: [], code: error.code, fields: withImage(error.details) }
  }
  const marks = Object.getOwnPropertySymbols(error)
    .map((symbol) => Symbol.keyFor(symbol))
    .filter((key) => key?.startsWith(markPrefix))
  const fields = keptFields
    .map((field) => [field, (error as unknown as Record<string, unknown>)[field]])
    .filter(([, value]) => value !== undefined)
  return { name, message, marks: marks as string[], fields: withImage(Object.fromEntries(fields)) }
}

/** Longest field that is kept, in characters of JSON: a page of somebody's server error is for the log. */
const longestField = 100_000

/** Leaves out what has no JSON image: an error must never fail for what hangs on it. Errors inside have images of their own. */
function withImage(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      try {
        return JSON.stringify(value).length <= longestField
      } catch {
        return false
      }
    }),
  )
}

export function isErrorImage(value: unknown): value is ErrorImage {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<ErrorImage>).marks)
}

export function errorOf({ name, message, marks, fields, code }: ErrorImage): Error {
  if (code !== undefined) return new ErrandError(code, message, fields)
  const error = new Error(message)
  const hidden = { configurable: true, writable: true, enumerable: false }
  Object.defineProperty(error, 'name', { ...hidden, value: name })
  for (const mark of marks) Object.defineProperty(error, Symbol.for(mark), { ...hidden, value: true })
  return Object.assign(error, fields)
}
