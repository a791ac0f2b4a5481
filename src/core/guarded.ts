// Calls functions of the user whose result nothing waits for: listeners, observers, reporters. What such a function throws, or what the
// promise of an async one rejects with, must not reach its caller, and an unhandled rejection would end the process.
import { describeError } from './stored-error.ts'

/** Calls a function; `failed` receives what it throws, or what a promise that it returns rejects with. */
export function guarded(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const returned = call()
    if (isPromise(returned)) Promise.resolve(returned).catch(failed)
  } catch (error) {
    failed(error)
  }
}

/** An `onError` of the user that never fails: both errors are printed when it does. */
export function safeReporter<A extends unknown[]>(
  onError: (error: unknown, ...context: A) => unknown,
): (error: unknown, ...context: A) => void {
  return (error, ...context) => {
    guarded(
      () => onError(error, ...context),
      (thrown) => {
        console.error('errand: onError threw', describeError(thrown))
        console.error('errand:', describeError(error), ...context)
      },
    )
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
