// A filter that only the server can apply: it finds the ids of all matching tasks, and later those of new ones.

import type { FrameClock } from '../model/throttle.ts'
import type { TaskRowsPage } from '../model/wire.ts'
import { type ApiClient, problemOf } from './api-client.ts'

const pageSize = 5_000
/** While a person types, the server is not asked. */
const waitMs = 250

export class ServerSearch {
  readonly #api: ApiClient
  readonly #clock: Pick<FrameClock, 'later'>
  readonly #report: (found: ReadonlySet<string>) => void
  #filter: object | null = null
  #found: ReadonlySet<string> = new Set()
  /** The number of the last task that existed when the server was asked. */
  #upTo = 0
  #current = new AbortController()

  constructor(api: ApiClient, clock: Pick<FrameClock, 'later'>, report: (found: ReadonlySet<string>) => void) {
    this.#api = api
    this.#clock = clock
    this.#report = report
  }

  /** Searches with another filter after a moment; null for none. `lastTask` is the number of the last task that is known. */
  search(filter: object | null, lastTask: number): void {
    this.#current.abort()
    this.#current = new AbortController()
    this.#filter = filter
    this.#found = new Set()
    this.#upTo = lastTask
    const { signal } = this.#current
    if (filter === null) return
    this.#clock.later(() => {
      if (!signal.aborted) void this.#find(0, signal)
    }, waitMs)
  }

  /** Looks through the tasks that are newer than the latest search. */
  extend(lastTask: number): void {
    if (this.#filter === null || lastTask <= this.#upTo) return
    const from = this.#upTo
    this.#upTo = lastTask
    void this.#find(from, this.#current.signal)
  }

  async #find(from: number, signal: AbortSignal): Promise<void> {
    try {
      for (let after: number | null = from; after !== null; ) {
        const body: object = { ...this.#filter, after, limit: pageSize }
        const response = await this.#api.send('POST', 'abilities/task:list', { body, signal })
        const { tasks, next } = (await response.json()) as TaskRowsPage
        if (signal.aborted) return
        this.#found = new Set([...this.#found, ...tasks.map(({ id }) => id)])
        this.#report(this.#found)
        after = next
      }
    } catch (error) {
      // What the page itself finds is shown; a refusal (for example of too long a text) is only logged.
      if (!signal.aborted) console.warn('The server could not search:', problemOf(error))
    }
  }
}
