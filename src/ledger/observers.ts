// Who observes a ledger, and what each observer hears: the same on every dialect.
import type { CommittedEvents } from './appended-events.ts'
import type { LedgerObserver } from './ledger.ts'

export class LedgerObservers {
  readonly #observers = new Map<LedgerObserver, { watchOthers: boolean }>()

  add(observer: LedgerObserver, options: { watchOthers: boolean }): void {
    this.#observers.set(observer, options)
  }

  remove(observer: LedgerObserver): void {
    this.#observers.delete(observer)
  }

  clear(): void {
    this.#observers.clear()
  }

  /** Does any observer want to hear of other processes' commits? */
  get watchOthers(): boolean {
    return [...this.#observers.values()].some((options) => options.watchOthers)
  }

  /** A commit of ours has succeeded. */
  committed(events: CommittedEvents): void {
    if (events.length === 0) return
    for (const observer of this.#observers.keys()) {
      if (events === 'unseen') observer.stirred()
      else observer.committed(events)
    }
  }

  /** A commit of ours may have succeeded. */
  stirred(): void {
    for (const observer of this.#observers.keys()) observer.stirred()
  }

  /** Another process may have committed. */
  othersStirred(): void {
    for (const [observer, { watchOthers }] of this.#observers) if (watchOthers) observer.stirred()
  }

  failed(error: unknown): void {
    for (const observer of this.#observers.keys()) observer.failed(error)
  }
}
