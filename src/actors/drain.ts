// When an engine closes, its runs end as soon as nothing of them is in flight whose work would be lost: no call, and no step of a model.

export class Drain {
  readonly #hasNoCall: () => boolean
  /** Steps of a model that are under way. */
  #held = 0
  #drained: (() => void) | undefined

  constructor(hasNoCall: () => boolean) {
    this.#hasNoCall = hasNoCall
  }

  /** Calls back when nothing is in flight: immediately, or at the end of the last call or step. */
  whenNone(callback: () => void): void {
    this.#drained = callback
    this.note()
  }

  /** A call or a step has ended. */
  note(): void {
    if (this.#hasNoCall() && this.#held === 0) this.#drained?.()
  }

  /** The run has ended: calls back those that wait for a safe point. */
  end(): void {
    this.#drained?.()
  }

  /** A step of a model, for which an engine that closes waits as for a call. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#held++
    try {
      return await work()
    } finally {
      this.#held--
      this.note()
    }
  }
}
