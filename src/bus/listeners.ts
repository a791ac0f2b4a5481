// Whoever wants to hear of something. One that throws is reported, and keeps nobody else from hearing.
import { requireFunction } from '../core/parse.ts'

export class Listeners<T> {
  readonly #report: (error: unknown, told: T) => void
  readonly #held = new Set<{ listener: (told: T) => void }>()

  constructor(report: (error: unknown, told: T) => void) {
    this.#report = report
  }

  /** Returns how to stop. The same listener may be added more than once and then hears as often. */
  add(listener: (told: T) => void): () => void {
    const held = { listener: requireFunction(listener, 'a listener') }
    this.#held.add(held)
    return () => void this.#held.delete(held)
  }

  tell(told: T): void {
    for (const { listener } of this.#held) {
      try {
        listener(told)
      } catch (error) {
        this.#report(error, told)
      }
    }
  }
}
