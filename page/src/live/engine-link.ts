// Keeps the page's tasks current: reads every row once, follows the feed, and reads the rows again that events concern.

import { TaskStore } from '../model/task-store.ts'
import { atMostEvery, type FrameClock } from '../model/throttle.ts'
import { Throughput } from '../model/throughput.ts'
import type { EventPage, Problem, TaskEvent, TaskRowsPage } from '../model/wire.ts'
import { type ApiClient, isLostPosition, problemOf } from './api-client.ts'
import { type Connection, followSource, type SourceTimers } from './event-source.ts'

const pageSize = 5_000
/** Maximum number of tasks held by the page. Beyond it, settled tasks are left out. */
export const maxTasks = 100_000
/** Maximum number of ids per request. */
const maxPerRead = 1_000
const readEveryMs = 250
/** Interval of reads during bursts of events, when rows change again soon after they are read. */
const burstEveryMs = 500
const burstRows = 100
const againAfterMs = 1_000

export interface LinkListener {
  /** Rows were added, removed or changed. */
  changed(): void
  connection(connection: Connection): void
  /** Ids of the visible rows, which are read first. */
  inSight(): Iterable<string>
  /** Called for each event after the rows reflect it. */
  event(event: TaskEvent): void
  /** All rows are loaded; `left` is the number of tasks beyond the limit. */
  loaded(left: number): void
  /** The server refuses, and no more events will arrive. */
  refused(problem: Problem): void
}

export class EngineLink {
  readonly store = new TaskStore()
  readonly throughput = new Throughput()
  readonly #api: ApiClient
  readonly #clock: FrameClock & SourceTimers
  readonly #listener: LinkListener
  readonly #readSoon: () => void
  #closeFeed: () => void = () => {}
  /** Incremented by each load: responses to an earlier load are ignored. */
  #loading = 0
  #reading = false
  /** Number of rows in the last read. */
  #lastRead = 0
  #system = false

  constructor(api: ApiClient, clock: FrameClock & SourceTimers, listener: LinkListener) {
    this.#api = api
    this.#clock = clock
    this.#listener = listener
    this.#readSoon = atMostEvery(
      clock,
      () => (this.#lastRead > burstRows ? burstEveryMs : readEveryMs),
      () => void this.#readDirty(),
    )
  }

  /** Whether the rows are those of system tasks, and not of all others. */
  get system(): boolean {
    return this.#system
  }

  /** Reads system tasks, or the others, in place of the rows so far. */
  show(system: boolean): void {
    this.#system = system
    void this.load()
  }

  /** Discards all rows, reads everything and follows the feed from there. */
  async load(): Promise<void> {
    const loading = ++this.#loading
    this.#closeFeed()
    this.store.clear()
    this.#listener.connection('connecting')
    try {
      const left = await this.#readAll(loading)
      if (loading === this.#loading) this.#listener.loaded(left)
    } catch (error) {
      if (loading === this.#loading) this.#failedToLoad(error)
    }
  }

  /** Reads rows again that may have changed without an event. */
  readAgain(ids: readonly string[]): void {
    this.store.markDirty(ids)
    if (ids.length > 0) this.#readSoon()
  }

  close(): void {
    this.#loading++
    this.#closeFeed()
  }

  /** Follows the feed from the first page on, so that changes during the read are not lost. */
  async #readAll(loading: number): Promise<number> {
    let after = 0
    let total = 0
    for (let first = true; ; first = false) {
      const page = await this.#api.call<TaskRowsPage>('task:list', {
        limit: pageSize,
        after,
        ...(this.#system && { system: true }),
      })
      if (loading !== this.#loading) return 0
      this.store.applyRows(page.tasks, page.seq)
      this.#listener.changed()
      total = page.total ?? total
      if (first) this.#follow(page.seq)
      if (page.next === null) return 0
      if (this.store.rows.size >= maxTasks) return total - this.store.rows.size
      after = page.next
    }
  }

  #failedToLoad(error: unknown): void {
    const problem = problemOf(error)
    const mayPass = problem.status === 0 || problem.status >= 500 || problem.status === 429
    if (!mayPass) {
      this.#listener.refused(problem)
      return
    }
    this.#listener.connection('broken')
    const loading = this.#loading
    this.#clock.later(() => {
      if (loading === this.#loading) void this.load()
    }, againAfterMs)
  }

  #follow(seq: number): void {
    this.store.seq = seq
    void this.#recall(seq)
    this.#closeFeed = followSource({
      lastId: String(seq),
      open: (lastId, signal) =>
        this.#api.send('GET', 'events', {
          query: { after: lastId },
          headers: { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
          signal,
        }),
      onEvent: ({ data }) => this.#onEvent(JSON.parse(data) as TaskEvent),
      onConnection: (connection) => this.#listener.connection(connection),
      onRefused: (problem) => this.#feedRefused(problem),
      clock: this.#clock,
    })
  }

  /** Purged events cannot be followed, nor those of a ledger that was replaced by an older copy: everything is read again. */
  #feedRefused(problem: Problem): void {
    if (isLostPosition(problem)) void this.load()
    else this.#listener.refused(problem)
  }

  /** Reads the events of the last minutes for the throughput plot. */
  async #recall(seq: number): Promise<void> {
    try {
      const page = await this.#api.get<EventPage>('events/list', { before: seq + 1, limit: pageSize })
      for (const event of page.events) if (this.#concerns(event)) this.throughput.add(event)
      this.#listener.changed()
    } catch (error) {
      // The plot starts empty; nothing else depends on it.
      console.warn('Could not read recent events', problemOf(error))
    }
  }

  #concerns({ data }: TaskEvent): boolean {
    return (data['system'] === true) === this.#system
  }

  #onEvent(event: TaskEvent): void {
    const revision = this.store.revision
    if (this.#concerns(event)) {
      if (event.seq > this.store.seq) this.throughput.add(event)
      this.store.applyEvent(event)
    } else this.store.seq = Math.max(this.store.seq, event.seq)
    if (this.store.dirtyCount > 0) this.#readSoon()
    if (this.store.revision !== revision) this.#listener.changed()
    this.#listener.event(event)
  }

  /** Sends one read at a time, so that a slow server gets no second one before it has answered. */
  async #readDirty(): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    const loading = this.#loading
    const ids = this.store.takeDirty(maxPerRead, this.#listener.inSight())
    this.#lastRead = ids.length
    try {
      const page = await this.#api.call<TaskRowsPage>('task:list', { ids, limit: pageSize })
      if (loading === this.#loading) this.store.applyRows(page.tasks, page.seq, ids)
      this.#listener.changed()
    } catch (error) {
      if (loading === this.#loading) this.store.markDirty(ids)
      if (problemOf(error).status === 403) return
      await new Promise<void>((resolve) => this.#clock.later(resolve, againAfterMs))
    } finally {
      this.#reading = false
      if (this.store.dirtyCount > 0) this.#readSoon()
    }
  }
}
