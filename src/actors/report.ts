// Errors without a caller to throw to: they are passed to `onError`, or printed to the console.
import { guarded } from '../core/guarded.ts'
import type { Redaction } from '../core/redact.ts'
import { describeError } from '../core/stored-error.ts'

export type Report = (error: unknown, context: Record<string, unknown>) => void

export function createReport(onError: Report | undefined, redaction: Redaction): Report {
  return (given, context) => {
    const error = redaction.thrown(given)
    const print = (): void => console.error('errand:', describeError(error), context)
    if (onError === undefined) {
      print()
      return
    }
    guarded(
      () => onError(error, context),
      (thrown) => {
        // A reporter that fails must not become the engine's own failure; both errors are printed.
        console.error('errand: onError threw', describeError(redaction.thrown(thrown)))
        print()
      },
    )
  }
}
