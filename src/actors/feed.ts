// The one feed: every component that acts or publishes follows `event.seq` in order, for own steps and other processes' alike. An
// own commit brings its events along; when another process committed in between, they are read, and a read that fails is tried again.
import type { Clock } from '../core/clock.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger, LedgerObserver, Op, Reads } from '../ledger/ledger.ts'
import type { Report } from './report.ts'

export type FeedListener = (event: TaskEvent) => void

const pageSize = 500
/** How long a failed read rests before it is tried again, at first and at most. */
const firstPauseMs = 20
const maxPauseMs = 5_000

export class Feed implements LedgerObserver {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #listeners = new Set<FeedListener>()
  readonly #taskListeners = new Map<string, Set<FeedListener>>()
  readonly #report: Report
  /** The ledger has failed. */
  readonly failed: (error: unknown) => void
  #cursor = 0
  #catchingUp: Promise<void> | undefined
  #again = false
  #stop: (() => void) | undefined
  /** How often it has moved: what is asked before a read tells whether it has moved since. */
  #moves = 0
  readonly #waiting = new Set<() => void>()
  /** Reads that rest after a failure. */
  readonly #resting = new Set<() => void>()
  /** Resolves when the next read begins to rest. */
  #stalled = Promise.withResolvers<void>()
  readonly #onStop = new Set<() => void>()

  constructor(ledger: Ledger, clock: Clock, report: Report, onFailed: (error: unknown) => void) {
    this.#ledger = ledger
    this.#clock = clock
    this.#report = report
    this.failed = onFailed
  }

  /** The position up to which events have been published here. */
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
    for (const wake of this.#resting) wake()
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

  /** Changes whenever the feed moves; see `moved`. */
  get moves(): number {
    return this.#moves
  }

  /**
   * Resolves at the next event or commit of others that made none, when the feed stops, or when the signal aborts; at once when it
   * has moved `since` was asked for, so that nothing is missed between a read and the wait for more.
   */
  moved(signal?: AbortSignal, since: number = this.#moves): Promise<void> {
    if (this.stopped || signal?.aborted || since !== this.#moves) return Promise.resolve()
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
    // The ledger works again: what failed before is tried now.
    for (const wake of this.#resting) wake()
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
    this.#catchingUp = this.#catchUp().finally(() => {
      this.#catchingUp = undefined
      if (this.#again && !this.stopped) {
        this.#again = false
        this.stirred()
      }
    })
  }

  /**
   * Resolves when everything that is durable by now has been published. While reads fail it does not wait for the ledger to
   * recover, so that `close` is not held up.
   */
  async caughtUp(): Promise<void> {
    while (this.#catchingUp && this.#resting.size === 0) await Promise.race([this.#catchingUp, this.#stalled.promise])
  }

  /**
   * Reads, and tries again until it succeeds: reported once, with growing pauses. Undefined when the feed has stopped. For components
   * that follow the feed and have no caller to pass an error to.
   */
  async read<R>(query: (tx: Reads) => Op<R>, doing: string): Promise<R | undefined> {
    for (let pauseMs = 0; !this.stopped; pauseMs = Math.min(maxPauseMs, Math.max(firstPauseMs, pauseMs * 2))) {
      if (pauseMs > 0) await this.#rest(pauseMs)
      if (this.stopped) return undefined
      try {
        return await this.#ledger.read(query)
      } catch (error) {
        if (pauseMs === 0 && !this.stopped) this.#report(error, { doing })
      }
    }
    return undefined
  }

  async #catchUp(): Promise<void> {
    for (let told = false; !this.stopped; told = true) {
      const cursor = this.#cursor
      const page = await this.read((tx) => tx.event.after(cursor, pageSize), 'follow the feed')
      if (page === undefined) return
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

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => wake(), ms)
      const wake = (): void => {
        this.#clock.clearTimeout(timer)
        this.#resting.delete(wake)
        resolve()
      }
      this.#resting.add(wake)
      this.#stalled.resolve()
      this.#stalled = Promise.withResolvers()
    })
  }

  #wakeWaiting(): void {
    this.#moves += 1
    const waiting = [...this.#waiting]
    for (const wake of waiting) wake()
  }
}
