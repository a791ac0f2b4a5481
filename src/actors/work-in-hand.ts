// For a clock that stands still: when an engine rests. Steps and reads that have begun are in hand, and so are open runs whose functions wait
// for something else than the engine. Everything that an engine does by itself consists of those, with at most a turn in between.
import type { Clock, RestingEngine } from '../core/clock.ts'
import { nextTurn } from '../core/turns.ts'
import { delegateLedger } from '../ledger/delegate-ledger.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Lifecycle } from './lifecycle.ts'

export class WorkInHand implements RestingEngine {
  #life: Pick<Lifecycle, 'look' | 'supervisor'> | undefined
  #leave = (): void => {}
  /** Steps and reads that have begun, and of these the steps. */
  #begun = 0
  #steps = 0
  #open = 0
  #change = Promise.withResolvers<void>()

  /** The ledger, with its steps and reads counted. */
  counted(ledger: Ledger): Ledger {
    return delegateLedger(ledger, {
      step: (step) => {
        this.#steps += 1
        return this.#during(ledger.step(step))
      },
      read: (query, reader) => this.#during(ledger.read(query, reader)),
    })
  }

  join(clock: Clock, life: Pick<Lifecycle, 'look' | 'supervisor'>): void {
    this.#life = life
    this.#leave = clock.join?.(this) ?? this.#leave
  }

  /** Nothing waits for the engine any more. */
  leave(): void {
    this.#life = undefined
    this.#leave()
    this.changed()
  }

  /** Something has begun, has ended, or waits for the clock. */
  changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async rest(): Promise<boolean> {
    const before = this.#steps
    await this.#life?.look()
    for (let seen: number | undefined; seen !== this.#begun || this.#isBusy; ) {
      while (this.#isBusy) await this.#change.promise
      seen = this.#begun
      await nextTurn()
      await nextTurn()
    }
    return this.#steps !== before
  }

  get #isBusy(): boolean {
    return this.#life !== undefined && (this.#open > 0 || !this.#life.supervisor.isAtRest)
  }

  #during<R>(work: Promise<R>): Promise<R> {
    this.#begun += 1
    this.#open += 1
    const ended = (): void => {
      this.#open -= 1
      this.changed()
    }
    work.then(ended, ended)
    return work
  }
}
