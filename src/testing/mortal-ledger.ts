// A ledger that goes dead, as if the process of its engine were killed: nothing of that engine is written or answered any more, and its lock is
// released as the kernel would.

import type { Reader } from '../bus/read-principal.ts'
import type { Ledger, LedgerObserver, Life, Op, Reads, Step } from '../ledger/ledger.ts'

/** `before`: nothing of the step is written. `after`: it is durable, and neither its caller nor an observer knows. */
export interface DeathPoint {
  /** The number of the step among those of this life, from 1. */
  step: number
  name: string
  when: 'before' | 'after'
}

export interface MortalLedger {
  ledger: Ledger
  death: Promise<void>
  isDead(): boolean
  /** Kills the engine between two steps. */
  die(): void
}

/** `kills` decides at each step whether the engine dies there. */
export function mortalLedger(inner: Ledger, kills: (point: DeathPoint) => boolean = () => false): MortalLedger {
  const ledger = new Mortal(inner, kills)
  return { ledger, death: ledger.death, isDead: () => ledger.isDead, die: () => ledger.die() }
}

class Mortal implements Ledger {
  readonly #inner: Ledger
  readonly #kills: (point: DeathPoint) => boolean
  readonly #death = Promise.withResolvers<void>()
  readonly #instances: string[] = []
  readonly #unobserve: Array<() => void> = []
  readonly #names = new Map<number, string>()
  /** Decided, and not known to be durable. */
  readonly #decided = new Set<number>()
  #steps = 0
  isDead = false

  constructor(inner: Ledger, kills: (point: DeathPoint) => boolean) {
    this.#inner = inner
    this.#kills = kills
  }

  get name(): string {
    return this.#inner.name
  }

  get death(): Promise<void> {
    return this.#death.promise
  }

  die(): void {
    if (this.isDead) return
    this.isDead = true
    for (const id of this.#instances) this.#inner.unregister(id, { asDead: true })
    for (const stop of this.#unobserve) stop()
    this.#death.resolve()
  }

  step<R>(step: Step<R>): Promise<R> {
    if (this.isDead) return never()
    const nth = ++this.#steps
    this.#names.set(nth, step.name)
    this.#reached(nth, 'before')
    return this.isDead ? never() : this.#unlessDead(this.#write(step, nth))
  }

  async #write<R>(step: Step<R>, nth: number): Promise<R> {
    const requireLife = (): void => {
      if (this.isDead) throw new Error('The engine of this step is dead.')
    }
    const decided = this.#decided
    const watched: Step<R> = {
      ...step,
      *decide(tx): Op<R> {
        requireLife()
        const result = yield* step.decide(tx)
        decided.add(nth)
        return result
      },
    }
    try {
      const result = await this.#inner.step(watched)
      this.#durable(nth)
      return result
    } finally {
      decided.delete(nth)
    }
  }

  #reached(step: number, when: DeathPoint['when']): void {
    if (!this.isDead && this.#kills({ step, name: this.#names.get(step) as string, when })) this.die()
  }

  #durable(step: number): void {
    if (this.#decided.delete(step)) this.#reached(step, 'after')
  }

  async #unlessDead<T>(work: Promise<T>): Promise<T> {
    const outcome = await work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if (this.isDead) return never()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }

  read<R>(query: (tx: Reads) => Op<R>, reader?: Reader): Promise<R> {
    return this.isDead ? never() : this.#unlessDead(this.#inner.read(query, reader))
  }

  async register(id: string): Promise<void> {
    if (this.isDead) return never()
    this.#instances.push(id)
    await this.#inner.register(id)
  }

  isAlive(id: string): Promise<Life> {
    return this.isDead ? never() : this.#inner.isAlive(id)
  }

  unregister(id: string, options?: { asDead?: boolean }): void {
    if (!this.isDead) this.#inner.unregister(id, options)
  }

  observe(observer: LedgerObserver, options: { watchOthers: boolean }): () => void {
    const unlessDead = (notify: () => void): void => {
      if (!this.isDead) notify()
    }
    const stop = this.#inner.observe(
      {
        committed: (events) => {
          for (const step of this.#decided) this.#durable(step)
          unlessDead(() => observer.committed(events))
        },
        changed: () => unlessDead(() => observer.changed()),
        failed: (error) => unlessDead(() => observer.failed(error)),
      },
      options,
    )
    this.#unobserve.push(stop)
    return stop
  }

  /** The ledger outlives the engine. */
  async close(): Promise<void> {}
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})
