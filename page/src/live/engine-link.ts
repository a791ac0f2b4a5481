// Keeps the page's picture of all tasks true: reads every row once, then follows the feed, and reads again what it tells of.

import { atMostEvery, type Beat } from '../model/frames.ts'
import { TaskStore } from '../model/task-store.ts'
import { Throughput } from '../model/throughput.ts'
import type { EventPage, Problem, TaskEvent, TaskRowsPage } from '../model/wire.ts'
import { type ApiClient, problemOf } from './api-client.ts'
import { type Connection, followSource, type SourceBeat } from './event-source.ts'

const pageSize = 5_000
/** Tasks that a page in a browser holds. Beyond it, the settled ones are left out. */
export const maxTasks = 100_000
/** As many as one request may name. */
const maxPerRead = 1_000
const readEveryMs = 250
/** While very much happens: what a row is read for a moment later is often true for longer. */
const stormEveryMs = 500
const stormRows = 100
const againAfterMs = 1_000

export interface LinkListener {
  /** Rows have come, gone or changed. */
  changed(): void
  connection(connection: Connection): void
  /** Ids of the rows that somebody looks at: they are read before the others. */
  inSight(): Iterable<string>
  /** A single event, after the rows have taken it. */
  event(event: TaskEvent): void
  /** All rows are there; `left` are more than the page holds. */
  loaded(left: number): void
  /** Nothing more is heard: the server refuses. */
  refused(problem: Problem): void
}

export class EngineLink {
  readonly store = new TaskStore()
  readonly throughput = new Throughput()
  readonly #api: ApiClient
  readonly #beat: Beat & SourceBeat
  readonly #listener: LinkListener
  readonly #readSoon: () => void
  #closeFeed: () => void = () => {}
  /** Raised with each loading: what an earlier one still brings is too late. */
  #loading = 0
  #reading = false
  /** How many rows were read again the last time. */
  #lastRead = 0

  constructor(api: ApiClient, beat: Beat & SourceBeat, listener: LinkListener) {
    this.#api = api
    this.#beat = beat
    this.#listener = listener
    this.#readSoon = atMostEvery(
      beat,
      () => (this.#lastRead > stormRows ? stormEveryMs : readEveryMs),
      () => void this.#readDirty(),
    )
  }

  /** Reads everything and follows from there. What was known is forgotten. */
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

  close(): void {
    this.#loading++
    this.#closeFeed()
  }

  /** The feed is followed from the first page on: what changes during the reading is heard too. */
  async #readAll(loading: number): Promise<number> {
    let after = 0
    let total = 0
    for (let first = true; ; first = false) {
      const page = await this.#api.call<TaskRowsPage>('task:list', { limit: pageSize, after })
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
    this.#beat.later(() => {
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
      onEvent: ({ data }) => this.#hear(JSON.parse(data) as TaskEvent),
      onConnection: (connection) => this.#listener.connection(connection),
      onRefused: (problem) => this.#feedRefused(problem),
      beat: this.#beat,
    })
  }

  /** What was purged cannot be heard any more: everything is read anew. */
  #feedRefused(problem: Problem): void {
    if (problem.status === 410) void this.load()
    else this.#listener.refused(problem)
  }

  /** What happened in the last minutes, for the picture of how much goes on. */
  async #recall(seq: number): Promise<void> {
    try {
      const page = await this.#api.get<EventPage>('events/list', { before: seq + 1, limit: pageSize })
      for (const event of page.events) this.throughput.add(event)
      this.#listener.changed()
    } catch (error) {
      // The picture begins empty: nothing else rests on it.
      console.warn('What happened before could not be read', problemOf(error))
    }
  }

  #hear(event: TaskEvent): void {
    const revision = this.store.revision
    if (event.seq > this.store.seq) this.throughput.add(event)
    this.store.applyEvent(event)
    if (this.store.dirtyCount > 0) this.#readSoon()
    if (this.store.revision !== revision) this.#listener.changed()
    this.#listener.event(event)
  }

  /** One read at a time: a slow server is not asked again before it has answered. */
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
      await new Promise<void>((resolve) => this.#beat.later(resolve, againAfterMs))
    } finally {
      this.#reading = false
      if (this.store.dirtyCount > 0) this.#readSoon()
    }
  }
}
