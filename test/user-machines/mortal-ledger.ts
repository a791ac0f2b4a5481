// A ledger that goes dead at one of its steps, as if the process of its engine were killed there: nothing of that engine is written or answered
// any more, and its lock is released as the kernel would.

import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { Ledger, LedgerObserver, Op, Step } from '../../src/ledger/ledger.ts'

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
}

export function mortalLedger(inner: Ledger, kills: (point: DeathPoint) => boolean): MortalLedger {
  const death = Promise.withResolvers<void>()
  const instances: string[] = []
  const unobserve: Array<() => void> = []
  const names = new Map<number, string>()
  /** Decided, and not known to be durable. */
  const decided = new Set<number>()
  let steps = 0
  let isDead = false

  const reached = (step: number, when: DeathPoint['when']): void => {
    if (isDead || !kills({ step, name: names.get(step) as string, when })) return
    isDead = true
    for (const id of instances) inner.unregister(id, { asDead: true })
    for (const stop of unobserve) stop()
    death.resolve()
  }
  const durable = (step: number): void => {
    if (decided.delete(step)) reached(step, 'after')
  }
  const unlessDead = async <T>(work: Promise<T>): Promise<T> => {
    const outcome = await work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if (isDead) return never()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
  const ledger = delegateLedger(inner, {
    step<R>(step: Step<R>): Promise<R> {
      if (isDead) return never()
      const nth = ++steps
      names.set(nth, step.name)
      reached(nth, 'before')
      if (isDead) return never()
      const watched: Step<R> = {
        ...step,
        *decide(tx): Op<R> {
          if (isDead) throw new Error('The engine of this step is dead.')
          const result = yield* step.decide(tx)
          decided.add(nth)
          return result
        },
      }
      const writing = inner.step(watched).then(
        (result) => {
          durable(nth)
          return result
        },
        (error: unknown) => {
          decided.delete(nth)
          throw error
        },
      )
      return unlessDead(writing)
    },
    read: (query, reader) => (isDead ? never() : unlessDead(inner.read(query, reader))),
    async register(id) {
      if (isDead) return never()
      instances.push(id)
      await inner.register(id)
    },
    isAlive: (id) => (isDead ? never() : inner.isAlive(id)),
    unregister(id, options) {
      if (!isDead) inner.unregister(id, options)
    },
    observe(observer: LedgerObserver, options) {
      const unlessOver = (notify: () => void): void => {
        if (!isDead) notify()
      }
      const stop = inner.observe(
        {
          committed(events) {
            for (const step of decided) durable(step)
            unlessOver(() => observer.committed(events))
          },
          changed: () => unlessOver(() => observer.changed()),
          failed: (error) => unlessOver(() => observer.failed(error)),
        },
        options,
      )
      unobserve.push(stop)
      return stop
    },
    close: async () => {},
  })
  return { ledger, death: death.promise, isDead: () => isDead }
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})
