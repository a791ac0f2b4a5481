// Wakes a loop that checks again when something may have changed.

/** Wakes one waiter. Notifications are not counted: any number of them before a wait end that wait at once. */
export class Notifier {
  #notified = false
  #wake: (() => void) | undefined

  /** `notify` was called since the last wait ended. */
  get isNotified(): boolean {
    return this.#notified
  }

  notify(): void {
    this.#notified = true
    this.#wake?.()
  }

  /** Resolves at the next `notify` (at once after an earlier one), or as soon as the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake?.()
    signal.addEventListener('abort', wake)
    if (!this.#notified && !signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve))
    signal.removeEventListener('abort', wake)
    this.#notified = false
    this.#wake = undefined
  }
}
