// Reads a handler's stream so that it always ends: when the reader stops early, its `finally` runs; when the signal aborts, the reader
// does not wait for a chunk that may never come.
import { ErrandError } from '../core/errors.ts'

/** The value as an async iterable; `who` names its origin in the error message. */
export function requireChunks<T>(given: unknown, who: string, abilityId: string): AsyncIterable<T> {
  const source = given as AsyncIterable<T> | null | undefined
  if (typeof source?.[Symbol.asyncIterator] === 'function') return source
  throw new ErrandError(
    'EXECUTION_ERROR',
    `${who} returned no chunks: expected an async iterable, such as an async generator.`,
    { abilityId },
  )
}

/**
 * The chunks of a source until it ends, the reader stops, or the signal aborts.
 * @throws what `aborted` returns for the signal's reason; what the source throws.
 */
export async function* readChunks(
  source: AsyncIterable<unknown>,
  signal: AbortSignal,
  aborted: (reason: unknown) => Error,
): AsyncGenerator<unknown, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  let refuse: (error: Error) => void = () => {}
  let isPaused = false
  const onAbort = (): void => {
    refuse(aborted(signal.reason))
    // Not awaited, and its outcome is ignored: a source that is stuck in a chunk runs its `finally` when it can.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    while (true) {
      if (signal.aborted) throw aborted(signal.reason)
      const next = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        refuse = reject
        iterator.next().then(resolve, reject)
      })
      if (next.done) return
      isPaused = true
      yield next.value
      isPaused = false
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A source that has ended by itself needs no `return`.
    if (isPaused && !signal.aborted) await iterator.return?.()
  }
}
