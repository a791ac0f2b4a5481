// A bell for whoever looks again when something may have changed.

/** Wakes one waiter. Rings are not counted: one that came while nobody waited is heard at the next wait. */
export class Notifier {
  #heard = false
  #wake: (() => void) | undefined

  /** It was rung since the last wait. */
  get heard(): boolean {
    return this.#heard
  }

  ring(): void {
    this.#heard = true
    this.#wake?.()
  }

  /** Resolves at the next ring, or as soon as the signal aborts. */
  async rung(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake?.()
    signal.addEventListener('abort', wake)
    if (!this.#heard && !signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve))
    signal.removeEventListener('abort', wake)
    this.#heard = false
    this.#wake = undefined
  }
}
