// Turns of the event loop, and work that runs once at a time.

// The global function may be one of a test that fakes all timers (`vi.useFakeTimers`): turns pass all the same.
import { setImmediate } from 'node:timers'

/** Calls a function in the next turn of the event loop: timers, signals and other work run before. */
export const inNextTurn = (work: () => void): void => void setImmediate(work)

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(inNextTurn)

/**
 * Work of which one round runs at a time. All that ask for it during a round share one more, which begins afterwards: however often they
 * ask, and however long a round takes, at most one waits. The work never rejects.
 */
export class Rounds {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when a round has ended that began at this call or later. */
  ask(): Promise<void> {
    if (this.#running !== undefined) {
      this.#next ??= this.#running.then(() => {
        this.#next = undefined
        return this.ask()
      })
      return this.#next
    }
    this.#running = this.#work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** The end of all rounds that were asked for; undefined when there are none. */
  get pending(): Promise<void> | undefined {
    return this.#next ?? this.#running
  }
}
