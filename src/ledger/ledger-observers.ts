// The observers of a ledger: the supervisors, feeds and waits that are notified of commits, of this process and of others.
import type { TaskEvent } from '../entities/event.ts'
import type { LedgerObserver } from './ledger.ts'

/** The events of a commit in order; 'unseen' if a set statement wrote some of them, so that they must be read. */
export type CommittedEvents = readonly TaskEvent[] | 'unseen'

/** The observers of a ledger, and what each receives; the same on every dialect. */
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

  /** Whether any observer follows the commits of other processes. */
  get watchOthers(): boolean {
    return [...this.#observers.values()].some((options) => options.watchOthers)
  }

  /** Notifies observers of a successful commit of this process. */
  committed(events: CommittedEvents): void {
    if (events.length === 0) return
    for (const observer of this.#observers.keys()) {
      if (events === 'unseen') observer.changed()
      else observer.committed(events)
    }
  }

  /** Notifies observers of a commit of this process that may have succeeded. */
  changed(): void {
    for (const observer of this.#observers.keys()) observer.changed()
  }

  /** Notifies observers that another process may have committed. */
  othersChanged(): void {
    for (const [observer, { watchOthers }] of this.#observers) if (watchOthers) observer.changed()
  }

  failed(error: unknown): void {
    for (const observer of this.#observers.keys()) observer.failed(error)
  }
}
