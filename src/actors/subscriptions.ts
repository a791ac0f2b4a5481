// Live subscriptions: each handler hears in the order of events, awaited, one after the other; one that throws stops nobody.
// A handler that is slow costs a position, not memory: what it has not heard yet is read from the ledger again.

import type { EventHandler } from '../api/views.ts'
import type { EventType, TaskEvent } from '../entities/event.ts'
import type { Feed } from './feed.ts'
import type { Report } from './report.ts'

/** Events kept at hand for handlers that keep up. */
const maxKept = 1_000
const pageSize = 200

interface Subscription {
  type: EventType | '*'
  handler: EventHandler
  /** Where the feed stood when it was made: it hears what comes after. */
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

  /** The same handler may subscribe more than once and then hears as often; each unsubscribe undoes one. */
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

  /** Resolves when everything published so far has been heard. */
  async settled(): Promise<void> {
    while (this.#delivering) await this.#delivering
  }

  #onEvent(event: TaskEvent): void {
    this.#kept.push(event)
    if (this.#kept.length > maxKept) this.#kept.shift()
    this.#delivering ??= this.#deliver()
  }

  async #deliver(): Promise<void> {
    // Not in the stack of whoever committed.
    await Promise.resolve()
    try {
      while (this.#subscriptions.length > 0 && this.#cursor < this.#feed.cursor) {
        const events = await this.#next()
        if (events === undefined) return
        for (const event of events) {
          this.#cursor = event.seq
          await this.#tell(event)
        }
      }
    } finally {
      // In the same turn in which nothing more was found: an event that comes any later begins anew.
      this.#delivering = undefined
    }
  }

  /** Undefined when the feed has stopped. */
  async #next(): Promise<TaskEvent[] | undefined> {
    const cursor = this.#cursor
    const kept = this.#kept
    this.#kept = []
    if (kept[0]?.seq === cursor + 1) return kept
    const page = await this.#feed.read((tx) => tx.event.after(cursor, pageSize), 'tell subscribers')
    return page?.filter((event) => event.seq <= this.#feed.cursor)
  }

  async #tell(event: TaskEvent): Promise<void> {
    // The list as it is now: who unsubscribes while an event is told is not told any more, who subscribes hears from the next on.
    const audience = this.#subscriptions
    for (const subscription of audience) {
      if (event.seq <= subscription.after) continue
      if (subscription.type !== '*' && subscription.type !== event.type) continue
      if (!this.#subscriptions.includes(subscription)) continue
      try {
        await subscription.handler({ ...event, data: { ...event.data } })
      } catch (error) {
        this.#report(error, { event: event.type, taskId: event.taskId, doing: 'tell a subscriber' })
      }
    }
  }
}
