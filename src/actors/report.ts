// Errors without a caller to throw to: they are passed to `onError`, or printed to the console.
import { guarded } from '../core/guarded.ts'
import type { Redaction } from '../core/redact.ts'
import { describeError, toStoredError } from '../core/stored-error.ts'
import type { Log } from './log.ts'

export type Report = (error: unknown, context: Record<string, unknown>) => void

/** What a line of the logger repeats of the context of an error. */
const loggedFields = ['doing', 'taskId', 'run', 'callId', 'event', 'executor'] as const

/** The logger gets a line too, with the code of the error and without its message, which may quote content. */
export function createReport(onError: Report | undefined, redaction: Redaction, log?: Log): Report {
  return (given, context) => {
    const error = redaction.thrown(given)
    log?.write('error', { ...idsIn(context), errorCode: toStoredError(given).code }, 'the engine reported an error')
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

function idsIn(context: Record<string, unknown>): Record<string, string | number> {
  const found = loggedFields.map((field) => [field, context[field]] as const)
  return Object.fromEntries(
    found.filter((entry): entry is [(typeof loggedFields)[number], string | number] =>
      ['string', 'number'].includes(typeof entry[1]),
    ),
  )
}
