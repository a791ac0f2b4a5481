// Live subscriptions: each handler gets the events in order, awaited one after the other; a handler that throws does
// not stop the others. They share a position in the feed, at which the slowest of them is.

import type { EventType, TaskEvent } from '../entities/event.ts'
import type { EventHandler } from '../entities/views.ts'
import type { Feed } from './feed.ts'
import { type Follower, followFeed } from './follower.ts'
import type { Report } from './report.ts'

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
  #follower: Follower | undefined
  #unlisten: (() => void) | undefined
  #delivering: Promise<void> | undefined

  constructor(feed: Feed, report: Report) {
    this.#feed = feed
    this.#report = report
  }

  /** A handler that subscribes more than once is called as often per event; each unsubscribe undoes one. */
  subscribe(type: EventType | '*', handler: EventHandler): () => void {
    const subscription: Subscription = { type, handler, after: this.#feed.cursor }
    if (this.#follower === undefined) {
      this.#follower = followFeed(this.#feed, subscription.after, 'notify subscribers')
      this.#unlisten = this.#feed.listen(() => {
        this.#delivering ??= this.#deliver()
      })
    }
    this.#subscriptions = [...this.#subscriptions, subscription]
    return () => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription)
      if (this.#subscriptions.length === 0) this.#end()
    }
  }

  #end(): void {
    this.#unlisten?.()
    this.#follower?.end()
    this.#follower = undefined
  }

  /** Resolves when everything published so far has been delivered. */
  async settled(): Promise<void> {
    while (this.#delivering) await this.#delivering
  }

  async #deliver(): Promise<void> {
    // Leaves the call stack of the step that committed.
    await Promise.resolve()
    try {
      while (this.#follower?.isBehind) {
        const events = await this.#follower.take()
        // The feed has stopped.
        if (events === undefined) return
        for (const event of events) await this.#notify(event)
      }
    } finally {
      // In the same turn in which nothing more was found: a later event starts a new delivery.
      this.#delivering = undefined
    }
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
