// Errors that have no caller to be thrown to: they go to `onError`, or to the console.
import { describeError, readableError } from '../stored-error.ts'

export type Report = (error: unknown, context: Record<string, unknown>) => void

export function createReport(onError: Report | undefined): Report {
  return (error, context) => {
    if (onError !== undefined) {
      try {
        onError(readableError(error), context)
        return
      } catch (thrown) {
        // A reporter that throws must not become the engine's own failure; both are told.
        console.error('errand: onError threw', describeError(thrown))
      }
    }
    console.error('errand:', describeError(error), context)
  }
}
