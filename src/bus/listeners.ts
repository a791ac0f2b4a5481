// A list of listeners. An error in one is reported and does not affect the others.
import { guarded } from '../core/guarded.ts'
import { requireFunction } from '../core/parse.ts'

export class Listeners<T> {
  readonly #report: (error: unknown, value: T) => void
  readonly #entries = new Set<{ listener: (value: T) => void }>()

  constructor(report: (error: unknown, value: T) => void) {
    this.#report = report
  }

  /** The returned function removes the listener. A listener that is added twice is called twice. */
  add(listener: (value: T) => void): () => void {
    const entry = { listener: requireFunction(listener, 'a listener') }
    this.#entries.add(entry)
    return () => void this.#entries.delete(entry)
  }

  notify(value: T): void {
    for (const { listener } of this.#entries) {
      guarded(
        () => listener(value),
        (error) => this.#report(error, value),
      )
    }
  }
}
