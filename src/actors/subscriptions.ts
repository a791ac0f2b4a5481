// Live subscriptions: each handler gets the events in order, awaited one after the other; a handler that throws does
// not stop the others. A slow handler costs a position, not memory: events it has not had are read from the ledger
// again.

import type { EventHandler } from '../api/views.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { Feed } from './feed.ts'
import type { Report } from './report.ts'

/** Events kept in memory for handlers that keep up. */
const maxKept = 1_000
const pageSize = 200

interface Subscription {
  type: EventType | '*'
  handler: EventHandler
  /** Position of the feed at the time of subscribing: the handler gets later events. */
  after: number
}

export class Subscriptions {
  readonly #feed: Feed
  readonly #report: Report
  #subscriptions: Subscription[] = []
  #kept: TaskEvent[] = []
  #cursor = 0
  #delivering: Promise<void> | undefined
  #unlisten: (() => void) | undefined

  constructor(feed: Feed, report: Report) {
    this.#feed = feed
    this.#report = report
  }

  /** A handler that subscribes more than once is called as often per event; each unsubscribe undoes one. */
  subscribe(type: EventType | '*', handler: EventHandler): () => void {
    const subscription: Subscription = { type, handler, after: this.#feed.cursor }
    if (this.#subscriptions.length === 0) {
      this.#cursor = this.#feed.cursor
      this.#kept = []
      this.#unlisten = this.#feed.listen((event) => this.#onEvent(event))
    }
    this.#subscriptions = [...this.#subscriptions, subscription]
    return () => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription)
      if (this.#subscriptions.length === 0) this.#unlisten?.()
    }
  }

  /** Resolves when everything published so far has been delivered. */
  async settled(): Promise<void> {
    while (this.#delivering) await this.#delivering
  }

  #onEvent(event: TaskEvent): void {
    this.#kept.push(event)
    if (this.#kept.length > maxKept) this.#kept.shift()
    this.#delivering ??= this.#deliver()
  }

  async #deliver(): Promise<void> {
    // Leaves the call stack of the step that committed.
    await Promise.resolve()
    try {
      while (this.#subscriptions.length > 0 && this.#cursor < this.#feed.cursor) {
        const events = await this.#next()
        if (events === undefined) return
        for (const event of events) {
          this.#cursor = event.seq
          await this.#notify(event)
        }
      }
    } finally {
      // In the same turn in which nothing more was found: a later event starts a new delivery.
      this.#delivering = undefined
    }
  }

  /** Undefined when the feed has stopped. */
  async #next(): Promise<TaskEvent[] | undefined> {
    const cursor = this.#cursor
    const kept = this.#kept
    this.#kept = []
    if (kept[0]?.seq === cursor + 1) return kept
    const page = await this.#feed.read((tx) => tx.event.after(cursor, pageSize), 'notify subscribers')
    return page?.filter((event) => event.seq <= this.#feed.cursor)
  }

  async #notify(event: TaskEvent): Promise<void> {
    // The present list: a handler that unsubscribes during an event is not called for it any more, a new one starts
    // with the next.
    const audience = this.#subscriptions
    for (const subscription of audience) {
      if (event.seq <= subscription.after) continue
      if (subscription.type !== '*' && subscription.type !== event.type) continue
      if (!this.#subscriptions.includes(subscription)) continue
      try {
        await subscription.handler({ ...event, data: { ...event.data } })
      } catch (error) {
        this.#report(error, { event: event.type, taskId: event.taskId, doing: 'notify a subscriber' })
      }
    }
  }
}
