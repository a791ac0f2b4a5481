// The one feed: whoever acts or publishes follows `event.seq` in order, our own steps and other processes' alike. A commit of
// ours brings its events along; when somebody else was in between, they are read.
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger, LedgerObserver } from '../ledger/ledger.ts'

export type FeedListener = (event: TaskEvent) => void

const pageSize = 500

export class Feed implements LedgerObserver {
  readonly #ledger: Ledger
  readonly #listeners = new Set<FeedListener>()
  readonly #taskListeners = new Map<string, Set<FeedListener>>()
  readonly #report: (error: unknown, context: Record<string, unknown>) => void
  readonly #onFailed: (error: unknown) => void
  #cursor = 0
  #catchingUp: Promise<void> | undefined
  #again = false
  #stop: (() => void) | undefined
  readonly #waiting = new Set<() => void>()
  readonly #onStop = new Set<() => void>()

  constructor(
    ledger: Ledger,
    report: (error: unknown, context: Record<string, unknown>) => void,
    onFailed: (error: unknown) => void,
  ) {
    this.#ledger = ledger
    this.#report = report
    this.#onFailed = onFailed
  }

  /** The position up to which everybody has heard. */
  get cursor(): number {
    return this.#cursor
  }

  /** Begins at the present end of the ledger. */
  async start(): Promise<void> {
    this.#cursor = await this.#ledger.read((tx) => tx.event.last())
    this.#stop = this.#ledger.observe(this, { watchOthers: true })
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#listeners.clear()
    this.#taskListeners.clear()
    for (const told of this.#onStop) told()
    this.#onStop.clear()
    this.#wakeWaiting()
  }

  get stopped(): boolean {
    return this.#stop === undefined
  }

  /** Hears every event once, in order, right after it became durable. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Hears the events of one task: thousands may wait for thousands of tasks, and each event costs one look-up. */
  listenTo(taskId: string, listener: FeedListener): () => void {
    const listeners = this.#taskListeners.get(taskId) ?? new Set()
    this.#taskListeners.set(taskId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#taskListeners.get(taskId) === listeners) this.#taskListeners.delete(taskId)
    }
  }

  /** Told once when the feed stops; at once when it has. */
  onStop(told: () => void): () => void {
    if (this.stopped) told()
    else this.#onStop.add(told)
    return () => this.#onStop.delete(told)
  }

  /** Resolves at the next event or commit of others that made none, when the feed stops, or when the signal aborts. */
  moved(signal?: AbortSignal): Promise<void> {
    if (this.stopped || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  committed(events: readonly TaskEvent[]): void {
    if (this.#catchingUp || events[0]?.seq !== this.#cursor + 1) {
      this.stirred()
      return
    }
    this.#publish(events)
  }

  stirred(): void {
    if (this.#catchingUp) {
      this.#again = true
      return
    }
    this.#catchingUp = this.#catchUp()
      .catch((error: unknown) => this.#report(error, { doing: 'follow the feed' }))
      .finally(() => {
        this.#catchingUp = undefined
        if (this.#again && !this.stopped) {
          this.#again = false
          this.stirred()
        }
      })
  }

  /** Resolves when everything that is durable by now has been told. */
  async caughtUp(): Promise<void> {
    while (this.#catchingUp) await this.#catchingUp
  }

  failed(error: unknown): void {
    this.#onFailed(error)
  }

  async #catchUp(): Promise<void> {
    for (let told = false; !this.stopped; told = true) {
      const cursor = this.#cursor
      const page = await this.#ledger.read((tx) => tx.event.after(cursor, pageSize))
      if (page.length === 0) {
        // Something was written that makes no event, like mail: whoever waits for it looks for itself.
        if (!told) this.#wakeWaiting()
        return
      }
      this.#publish(page)
      // A cascade may have left a hundred thousand: timers, signals and other steps get their turn between its pages.
      if (page.length === pageSize) await new Promise<void>((resume) => setImmediate(resume))
    }
  }

  #publish(events: readonly TaskEvent[]): void {
    for (const event of events) {
      this.#cursor = event.seq
      this.#tell(this.#listeners, event)
      const concerned = this.#taskListeners.get(event.taskId)
      if (concerned !== undefined) this.#tell(concerned, event)
    }
    this.#wakeWaiting()
  }

  #tell(listeners: ReadonlySet<FeedListener>, event: TaskEvent): void {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#report(error, { event: event.type, taskId: event.taskId })
      }
    }
  }

  #wakeWaiting(): void {
    const waiting = [...this.#waiting]
    for (const wake of waiting) wake()
  }
}
