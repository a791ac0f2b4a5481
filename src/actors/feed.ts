// The feed: every component that acts or publishes follows `event.seq` in order, for own steps and those of other
// processes alike. An own commit brings its events along. When another process committed in between, the events are
// read; a failed read is retried.
import type { Clock } from '../core/clock.ts'
import { nextTurn } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import type { Ledger, LedgerObserver, Op, Page, Reads } from '../ledger/ledger.ts'
import type { Report } from './report.ts'

/** Called with the duration of each commit of this process, in milliseconds. */
type OnMeasured = (durationMs: number) => void

export type FeedListener = (event: TaskEvent) => void

const pageSize = 500
/** Few enough that they are read without asking for their sizes first, which would be a round trip to a server. */
const nearby = 50
/** Delay before a failed read is retried: the first, and the maximum. */
const firstPauseMs = 20
const maxPauseMs = 5_000

export class Feed implements LedgerObserver {
  readonly #ledger: Ledger
  readonly #clock: Clock
  readonly #listeners = new Set<FeedListener>()
  readonly #taskListeners = new Map<string, Set<FeedListener>>()
  readonly #report: Report
  /** Called when the ledger has failed. */
  readonly failed: (error: unknown) => void
  readonly measured: OnMeasured
  #cursor = 0
  #catchingUp: Promise<void> | undefined
  #again = false
  #stop: (() => void) | undefined
  /** Incremented at each move: a reader that takes it before a read can see whether the feed has moved since. */
  #moves = 0
  readonly #waiting = new Set<() => void>()
  /** Wakes reads that pause after a failure. */
  readonly #resting = new Set<() => void>()
  /** Resolves when the next read starts to pause. */
  #stalled = Promise.withResolvers<void>()
  readonly #onStop = new Set<() => void>()

  constructor(
    ledger: Ledger,
    clock: Clock,
    report: Report,
    onFailed: (error: unknown) => void,
    measured: OnMeasured = () => {},
  ) {
    this.#ledger = ledger
    this.#clock = clock
    this.#report = report
    this.failed = onFailed
    this.measured = measured
  }

  /** The position up to which events have been published here. */
  get cursor(): number {
    return this.#cursor
  }

  /** Starts at the present end of the ledger. */
  async start(): Promise<void> {
    this.#cursor = await this.#ledger.read((tx) => tx.event.last())
    this.#stop = this.#ledger.observe(this, { watchOthers: true })
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#listeners.clear()
    this.#taskListeners.clear()
    for (const listener of this.#onStop) listener()
    this.#onStop.clear()
    this.#wakeWaiting()
    for (const wake of this.#resting) wake()
  }

  get stopped(): boolean {
    return this.#stop === undefined
  }

  /** Calls the listener once for every event, in order, right after it became durable. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls the listener for the events of one task. Thousands of listeners may wait for thousands of tasks; each event
   * costs one look-up.
   */
  listenTo(taskId: string, listener: FeedListener): () => void {
    const listeners = this.#taskListeners.get(taskId) ?? new Set()
    this.#taskListeners.set(taskId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#taskListeners.get(taskId) === listeners) this.#taskListeners.delete(taskId)
    }
  }

  /** Calls the listener once when the feed stops; immediately when it has stopped. */
  onStop(listener: () => void): () => void {
    if (this.stopped) listener()
    else this.#onStop.add(listener)
    return () => this.#onStop.delete(listener)
  }

  /** Changes whenever the feed moves; see `moved`. */
  get moves(): number {
    return this.#moves
  }

  /**
   * Resolves at the next event, at a commit of another process without events, when the feed stops, or when the signal
   * aborts. Resolves immediately when the feed has moved since `since` was taken, so that nothing is missed between a
   * read and the wait.
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

  /** Called by the ledger (`LedgerObservers` in group-commit.ts) before the callers of its steps continue. */
  committed(events: readonly TaskEvent[]): void {
    // The ledger works again: failed reads are retried now.
    for (const wake of this.#resting) wake()
    if (this.#catchingUp || events[0]?.seq !== this.#cursor + 1) {
      this.changed()
      return
    }
    this.#publish(events)
  }

  changed(): void {
    if (this.#catchingUp) {
      this.#again = true
      return
    }
    this.#catchingUp = this.#catchUp().finally(() => {
      this.#catchingUp = undefined
      if (this.#again && !this.stopped) {
        this.#again = false
        this.changed()
      }
    })
  }

  /**
   * Resolves when everything durable by now has been published. Does not wait while reads fail, so that `close` is not
   * delayed.
   */
  async caughtUp(): Promise<void> {
    while (this.#catchingUp && this.#resting.size === 0) await Promise.race([this.#catchingUp, this.#stalled.promise])
  }

  /**
   * Reads, and retries until it succeeds, with growing delays; the first failure is reported. Undefined when the feed
   * has stopped. For components that follow the feed and have no caller to throw to.
   */
  async read<R>(query: (tx: Reads) => Op<R>, doing: string): Promise<R | undefined> {
    for (let pauseMs = 0; !this.stopped; pauseMs = Math.min(maxPauseMs, Math.max(firstPauseMs, pauseMs * 2))) {
      if (pauseMs > 0) await this.#pause(pauseMs)
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
    for (let isFar = false; !this.stopped; isFar = true) {
      const cursor = this.#cursor
      const page = await this.read((tx) => nextPage(tx, cursor, isFar), 'follow the feed')
      if (page === undefined) return
      // Without an event something was written all the same, such as mail: waiting readers check for themselves.
      if (page.rows.length === 0) this.#wakeWaiting()
      else this.#publish(page.rows)
      // What is committed after a read is reported after it, and read again.
      if (page.isLast) return
      // A cascade may leave 100,000 events: timers, signals and other steps run between its pages.
      await nextTurn()
    }
  }

  #publish(events: readonly TaskEvent[]): void {
    for (const event of events) {
      this.#cursor = event.seq
      this.#notify(this.#listeners, event)
      const concerned = this.#taskListeners.get(event.taskId)
      if (concerned !== undefined) this.#notify(concerned, event)
    }
    this.#wakeWaiting()
  }

  #notify(listeners: ReadonlySet<FeedListener>, event: TaskEvent): void {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#report(error, { event: event.type, taskId: event.taskId })
      }
    }
  }

  #pause(ms: number): Promise<void> {
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

/** The next events. A page far behind the end is limited in bytes. */
function* nextPage(tx: Reads, cursor: number, isFar: boolean): Op<Page<TaskEvent>> {
  if (isFar) return yield* tx.event.pageAfter(cursor, pageSize)
  const rows = yield* tx.event.after(cursor, nearby)
  return { rows, isLast: rows.length < nearby }
}
