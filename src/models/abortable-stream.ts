// Reading a stream under a signal. Models are asked to stop through their `abortSignal`, but a step ends at once even when
// one of them does not listen: whoever aborted must not wait for it.

/** Settles like the promise, or rejects with the signal's reason first; `discard` gets what comes after that. */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal, discard?: (late: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(signal.reason as Error)
      promise.then(discard, () => undefined)
    }
    if (signal.aborted) {
      giveUp()
      return
    }
    signal.addEventListener('abort', giveUp, { once: true })
    promise.then(
      (value) => {
        signal.removeEventListener('abort', giveUp)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', giveUp)
        reject(error as Error)
      },
    )
  })
}

/** The parts of a stream. However the loop over them ends, the stream is canceled, which closes its connection. */
export async function* partsOf<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader()
  try {
    while (true) {
      const { done, value } = await abortable(reader.read(), signal)
      if (done) return
      yield value
    }
  } finally {
    letGo(reader)
  }
}

/** Lets go of a stream without waiting for it, and without a word if it has already broken. */
export function letGo(stream: { cancel(): Promise<void> }): void {
  stream.cancel().catch(() => undefined)
}
