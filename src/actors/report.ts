// Errors without a caller to throw to: they are passed to `onError`, or printed to the console.
import type { Redaction } from '../core/redact.ts'
import { describeError } from '../core/stored-error.ts'

export type Report = (error: unknown, context: Record<string, unknown>) => void

export function createReport(onError: Report | undefined, redaction: Redaction): Report {
  return (given, context) => {
    const error = redaction.thrown(given)
    if (onError !== undefined) {
      try {
        onError(error, context)
        return
      } catch (thrown) {
        // A reporter that throws must not become the engine's own failure; both errors are printed.
        console.error('errand: onError threw', describeError(redaction.thrown(thrown)))
      }
    }
    console.error('errand:', describeError(error), context)
  }
}
