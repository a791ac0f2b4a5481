// Reading a handler's stream so that it always comes to an end: left early, its `finally` runs; aborted, nobody waits for a
// chunk that may never come.
import { ErrandError } from '../core/errors.ts'

/** What gives the chunks of a stream; `who` gave it, in words for the refusal of anything else. */
export function requireChunks<T>(given: unknown, who: string, abilityId: string): AsyncIterable<T> {
  const source = given as AsyncIterable<T> | null | undefined
  if (typeof source?.[Symbol.asyncIterator] === 'function') return source
  throw new ErrandError(
    'EXECUTION_ERROR',
    `${who} gave no chunks: expected an async iterable, such as an async generator makes.`,
    { abilityId },
  )
}

/**
 * The chunks of a source until it ends, the reader leaves, or the signal aborts.
 * @throws the signal's reason, as `aborted` makes an error of it; whatever the source throws.
 */
export async function* readChunks(
  source: AsyncIterable<unknown>,
  signal: AbortSignal,
  aborted: (reason: unknown) => Error,
): AsyncGenerator<unknown, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  let refuse: (error: Error) => void = () => {}
  let rests = false
  const onAbort = (): void => {
    refuse(aborted(signal.reason))
    // Not awaited, and deaf to how it ends: a source that is stuck in a chunk comes to its `finally` when it can.
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
      rests = true
      yield next.value
      rests = false
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A source that has ended by itself is not told to.
    if (rests && !signal.aborted) await iterator.return?.()
  }
}
